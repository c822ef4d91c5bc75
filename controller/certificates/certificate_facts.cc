// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/certificate_facts.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include <functional>
#include <map>
#include <utility>

#include "controller/certificates/openssl_types.h"

namespace berth {
namespace {

using Names = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

// Successive checks usually read the same texts, and OpenSSL parses them slowly.
constexpr std::size_t kRemembered = 64;
template <class Answer>
using Memory = std::map<std::string, Answer>;

template <class Answer>
Answer recall(Memory<Answer>& memory, const std::string& question,
              const std::function<Answer()>& read) {
  if (const auto known = memory.find(question); known != memory.end()) return known->second;
  if (memory.size() >= kRemembered) memory.clear();
  return memory.emplace(question, read()).first->second;
}

// Identifies a pair by a digest, so that no copy of its key is kept.
std::string digest_of(const CertificatePair& pair) {
  const std::string text = pair.certificate + '\0' + pair.key;
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

X509Certificate first_of(const std::string& pem) {
  X509Certificate certificate = read_certificate(read_from(pem).get());
  ERR_clear_error();
  return certificate;
}

std::vector<std::string> dns_names_of(const X509& certificate) {
  std::vector<std::string> dns_names;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    dns_names.emplace_back(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  return dns_names;
}

std::optional<CertificateFacts> read_facts(const std::string& pem) {
  const X509Certificate certificate = first_of(pem);
  if (certificate == nullptr) return std::nullopt;
  const std::optional<Time> from = beginning_of(*certificate), until = end_of(*certificate);
  if (!from || !until) return std::nullopt;
  CertificateFacts facts{.validity = {*from, *until}, .dns_names = dns_names_of(*certificate)};
  facts.authority = X509_check_ca(certificate.get()) == 1;
  ERR_clear_error();
  return facts;
}

bool check_pair(const CertificatePair& pair) {
  const X509Certificate certificate = first_of(pair.certificate);
  const PrivateKey key = read_key(read_from(pair.key).get());
  const bool fits = certificate != nullptr && key != nullptr &&
                    X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits;
}

bool check_issuer(const std::string& leaf_pem, const std::string& authority_pem) {
  const X509Certificate leaf = first_of(leaf_pem), authority = first_of(authority_pem);
  if (leaf == nullptr || authority == nullptr) return false;
  const bool signed_by = X509_check_issued(authority.get(), leaf.get()) == X509_V_OK &&
                         X509_verify(leaf.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return signed_by;
}

std::vector<std::string> split(const std::string& pem) {
  std::vector<std::string> parts;
  const Bio from = read_from(pem);
  while (const X509Certificate certificate = read_certificate(from.get())) {
    const Bio out(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(out.get(), certificate.get()) != 1) break;
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    parts.emplace_back(data, static_cast<std::size_t>(size));
  }
  ERR_clear_error();
  return parts;
}

}  // namespace

std::optional<CertificateFacts> read_certificate_facts(const std::string& pem) {
  thread_local Memory<std::optional<CertificateFacts>> memory;
  return recall<std::optional<CertificateFacts>>(memory, pem, [&] { return read_facts(pem); });
}

bool is_pair(const CertificatePair& pair) {
  thread_local Memory<bool> memory;
  return recall<bool>(memory, digest_of(pair), [&] { return check_pair(pair); });
}

bool is_issued_by(const std::string& leaf_pem, const std::string& authority_pem) {
  thread_local Memory<bool> memory;
  return recall<bool>(memory, leaf_pem + '\0' + authority_pem,
                      [&] { return check_issuer(leaf_pem, authority_pem); });
}

std::vector<std::string> split_certificates(const std::string& pem) {
  thread_local Memory<std::vector<std::string>> memory;
  return recall<std::vector<std::string>>(memory, pem, [&] { return split(pem); });
}

}  // namespace berth
