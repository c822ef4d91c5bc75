// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/certificate_facts.h"
#include "controller/server/client_authorities.h"
#include "controller/server/serving_certificate.h"
#include "tests/fuzz/checks.h"

namespace berth::test {

Verdict check_certificate(std::string_view text) {
  const std::string pem(text);
  const std::optional<CertificateFacts> facts = read_certificate_facts(pem);
  const std::vector<std::string> all = split_certificates(pem);
  Verdict verdict{.read = facts.has_value()};
  std::size_t total = 0;
  for (const std::string& one : all) {
    total += one.size();
    if (split_certificates(one) != std::vector{one}) verdict.wrong = "taken apart once more";
  }
  if (total > 4 * pem.size() + 1000) verdict.wrong = "more certificates than came";
  if (is_pair({.certificate = pem, .key = pem}) && pem.find("PRIVATE KEY") == pem.npos)
    verdict.wrong = "a pair without a key";
  (void)is_issued_by(pem, pem);
  ClientAuthorities authorities;
  if (authorities.replace(pem).has_value() != authorities.loaded())
    verdict.wrong = "authorities that are taken and not loaded";
  ServingCertificate serving;
  if (serving.replace(pem, pem).has_value() != serving.loaded())
    verdict.wrong = "a pair that is taken and not loaded";
  return verdict;
}

}  // namespace berth::test
