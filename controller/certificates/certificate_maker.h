// SPDX-License-Identifier: Apache-2.0
// The certificates of a webhook that manages its own: an authority that the API server is told of,
// and leaves that it signs.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"
#include "apis/time.h"
#include "controller/certificates/key_source.h"

namespace berth {

struct CertificatePair {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS #8, unencrypted
};

struct Validity {
  Time from;  // a while back, for clocks that differ
  Time until;
};

// A self-signed authority that may sign leaves and nothing else.
Result<CertificatePair> make_authority(const std::string& common_name, Validity validity,
                                       KeySource& keys = system_keys());

// A server's certificate for these DNS names, at least one; never beyond its authority's end.
Result<CertificatePair> make_leaf(const CertificatePair& authority,
                                  const std::vector<std::string>& dns_names, Validity validity,
                                  KeySource& keys = system_keys());

}  // namespace berth
