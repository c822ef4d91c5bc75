// SPDX-License-Identifier: Apache-2.0
// The certificates of a self-managed webhook: an authority that the API server trusts through the
// caBundle, and leaves that the authority signs.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/certificates/key_source.h"

namespace berth {

struct CertificatePair {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS #8, unencrypted
};

struct Validity {
  Time from;  // in the past, because clocks differ
  Time until;
};

// A self-signed authority that may only sign leaves.
Result<CertificatePair> make_authority(const std::string& common_name, Validity validity,
                                       KeySource& keys = system_keys());

// A server certificate for at least one DNS name. It never outlives its authority.
Result<CertificatePair> make_leaf(const CertificatePair& authority,
                                  const std::vector<std::string>& dns_names, Validity validity,
                                  KeySource& keys = system_keys());

}  // namespace berth
