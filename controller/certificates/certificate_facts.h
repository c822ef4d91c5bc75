// SPDX-License-Identifier: Apache-2.0
// CertificateFacts: what certificates in PEM say of themselves. Pure functions of their texts; what
// they answered lately is remembered, by a digest where a key is in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/time.h"
#include "controller/certificates/certificate_maker.h"

namespace berth {

struct CertificateFacts {
  Validity validity;
  bool authority = false;              // may sign others
  std::vector<std::string> dns_names;  // in their order
};

// Of the first certificate in the text; nothing if there is none.
std::optional<CertificateFacts> read_certificate_facts(const std::string& pem);
// Whether the key's public half is the first certificate's.
bool is_pair(const CertificatePair& pair);
// Whether the first certificate of the one bears the signature of the first of the other.
bool is_issued_by(const std::string& leaf_pem, const std::string& authority_pem);
// Each certificate by itself, in their order; what can't be read is left out.
std::vector<std::string> split_certificates(const std::string& pem);

}  // namespace berth
