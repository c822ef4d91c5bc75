// SPDX-License-Identifier: Apache-2.0
// CertificateChain: whether an API server that is told this bundle believes a webhook that shows
// this certificate, and until when. Asked of OpenSSL, not of berth's own reading.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apis/base/time.h"

namespace berth::explore {

class CertificateChain {
 public:
  explicit CertificateChain(std::string host) : host_(std::move(host)) {}

  // Both in PEM.
  bool believes(const std::string& bundle, const std::string& leaf, Time now);

 private:
  std::optional<std::pair<Time, Time>> lives(const std::string& bundle, const std::string& leaf,
                                             Time now) const;

  const std::string host_;
  // From when to when: asked once of each pair that holds, for it is asked every second.
  std::map<std::pair<std::string, std::string>, std::pair<Time, Time>> known_;
};

}  // namespace berth::explore
