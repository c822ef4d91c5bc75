// SPDX-License-Identifier: Apache-2.0
// CertificateFacts: reads facts from PEM certificates. Pure functions of their texts. They cache
// recent answers; where a text holds a key, the cache stores only its digest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/certificates/certificate_maker.h"

namespace berth {

struct CertificateFacts {
  Validity validity;
  bool authority = false;              // may sign others
  std::vector<std::string> dns_names;  // in their order
};

// Reads the first certificate of the text; nullopt: it has none.
std::optional<CertificateFacts> read_certificate_facts(const std::string& pem);
// Whether the key belongs to the first certificate.
bool is_pair(const CertificatePair& pair);
// Whether the first certificate of `authority_pem` signed the first one of `leaf_pem`.
bool is_issued_by(const std::string& leaf_pem, const std::string& authority_pem);
// The text's certificates in their order, without unreadable ones.
std::vector<std::string> split_certificates(const std::string& pem);

}  // namespace berth
