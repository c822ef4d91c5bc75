// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/certificate_maker.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "controller/certificates/openssl_types.h"

namespace berth {
namespace {

using Name = std::unique_ptr<X509_NAME, OpensslFree<X509_NAME_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;

Error failed(const char* what) {
  char reason[160];
  ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
  ERR_clear_error();
  return {.kind = ErrorKind::kServer, .message = reason, .where = what};
}

template <class Write>
std::string written(Write write) {
  const Bio out(BIO_new(BIO_s_mem()));
  if (!write(out.get())) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

// 159 random bits: positive, and within the 20 bytes that RFC 5280 allows.
bool set_serial(X509* certificate, KeySource& keys) {
  unsigned char bytes[20];
  if (!keys.fill(bytes)) return false;
  bytes[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(bytes, sizeof(bytes), nullptr);
  const bool done = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool set_validity(X509* certificate, Validity validity) {
  const auto seconds = [](Time at) {
    return static_cast<time_t>(
        std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(validity.until)) != nullptr;
}

bool add_extension(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

struct Draft {
  explicit Draft(KeySource& from) : keys(&from), key(from.make_key()) {}

  KeySource* keys;
  X509Certificate certificate{X509_new()};
  PrivateKey key;
};

// The unsigned parts that authority and leaf share.
bool begin(Draft& draft, const std::string& common_name, Validity validity) {
  X509* certificate = draft.certificate.get();
  if (certificate == nullptr || draft.key == nullptr) return false;
  const Name name(X509_NAME_new());
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.data());
  return X509_NAME_add_entry_by_txt(name.get(), "CN", MBSTRING_UTF8, text,
                                    static_cast<int>(common_name.size()), -1, 0) == 1 &&
         X509_set_version(certificate, X509_VERSION_3) == 1 &&
         set_serial(certificate, *draft.keys) && set_validity(certificate, validity) &&
         X509_set_subject_name(certificate, name.get()) == 1 &&
         X509_set_pubkey(certificate, draft.key.get()) == 1;
}

// Ed25519 and Ed448 keys hash the text themselves.
const EVP_MD* digest_for(EVP_PKEY* signer) {
  const bool by_itself =
      EVP_PKEY_is_a(signer, "ED25519") == 1 || EVP_PKEY_is_a(signer, "ED448") == 1;
  return by_itself ? nullptr : EVP_sha256();
}

Result<CertificatePair> finish(Draft draft, EVP_PKEY* signer, const char* what) {
  if (X509_sign(draft.certificate.get(), signer, digest_for(signer)) == 0) return failed(what);
  CertificatePair pair;
  pair.certificate =
      written([&](BIO* out) { return PEM_write_bio_X509(out, draft.certificate.get()) == 1; });
  pair.key = written([&](BIO* out) {
    return PEM_write_bio_PKCS8PrivateKey(out, draft.key.get(), nullptr, nullptr, 0, nullptr,
                                         nullptr) == 1;
  });
  if (pair.certificate.empty() || pair.key.empty()) return failed(what);
  return pair;
}

}  // namespace

Result<CertificatePair> make_authority(const std::string& common_name, Validity validity,
                                       KeySource& keys) {
  Draft draft(keys);
  X509* self = draft.certificate.get();
  if (!begin(draft, common_name, validity) ||
      X509_set_issuer_name(self, X509_get_subject_name(self)) != 1 ||
      !add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(self, self, NID_key_usage, "critical,keyCertSign") ||
      !add_extension(self, self, NID_subject_key_identifier, "hash"))
    return failed("make authority");
  EVP_PKEY* key = draft.key.get();
  return finish(std::move(draft), key, "sign authority");
}

Result<CertificatePair> make_leaf(const CertificatePair& authority,
                                  const std::vector<std::string>& dns_names, Validity validity,
                                  KeySource& keys) {
  const X509Certificate issuer = read_certificate(read_from(authority.certificate).get());
  const PrivateKey signer = read_key(read_from(authority.key).get());
  if (issuer == nullptr || signer == nullptr || dns_names.empty()) return failed("read authority");
  if (const std::optional<Time> end = end_of(*issuer))
    validity.until = std::min(validity.until, *end);
  std::string names;
  for (const std::string& name : dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  Draft draft(keys);
  X509* leaf = draft.certificate.get();
  // A common name holds at most 64 characters and a Service's name can be longer. Clients read only
  // the names below.
  if (!begin(draft, dns_names.front().substr(0, 64), validity) ||
      X509_set_issuer_name(leaf, X509_get_subject_name(issuer.get())) != 1 ||
      !add_extension(leaf, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(leaf, issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !add_extension(leaf, issuer.get(), NID_ext_key_usage, "serverAuth") ||
      !add_extension(leaf, issuer.get(), NID_authority_key_identifier, "keyid") ||
      !add_extension(leaf, issuer.get(), NID_subject_alt_name, names))
    return failed("make certificate");
  return finish(std::move(draft), signer.get(), "sign certificate");
}

}  // namespace berth
