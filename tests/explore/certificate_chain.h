// SPDX-License-Identifier: Apache-2.0
// CertificateChain: whether an API server with this bundle trusts a webhook with this certificate,
// and until when. OpenSSL decides, not berth's own code.
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
  // The validity of each good pair, cached because it is checked every second.
  std::map<std::pair<std::string, std::string>, std::pair<Time, Time>> known_;
};

}  // namespace berth::explore
