// SPDX-License-Identifier: Apache-2.0
// The certificates of a webhook that manages its own: an authority that the API server is told of,
// and leaves that it signs. Keys are P-256, serial numbers random.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"
#include "apis/time.h"

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
Result<CertificatePair> make_authority(const std::string& common_name, Validity validity);

// A server's certificate for these DNS names, at least one; never beyond its authority's end.
Result<CertificatePair> make_leaf(const CertificatePair& authority,
                                  const std::vector<std::string>& dns_names, Validity validity);

}  // namespace berth
