// SPDX-License-Identifier: Apache-2.0
#include "tests/support/certs.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace berth::test {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using Memory = std::unique_ptr<BIO, Free>;

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("openssl: ") + what);
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  check(key != nullptr, "EVP_EC_gen");
  return key;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(length));
}

std::string pem(EVP_PKEY* key) {
  Memory out(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "write key");
  return text_of(out.get());
}

std::string pem(X509* certificate) {
  Memory out(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(out.get(), certificate) == 1, "write certificate");
  return text_of(out.get());
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  check(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  check(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                   0) == 1,
        "subject");
}

Certificate blank(EVP_PKEY* key, long serial, const std::string& user,
                  const std::vector<std::string>& groups) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24 * 3600);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  for (const std::string& group : groups) add_name(name, "O", group);
  add_name(name, "CN", user);
  check(X509_set_pubkey(certificate.get(), key) == 1, "public key");
  return certificate;
}

bool is_ipv4(const std::string& name) {
  return name.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

struct Authority::Impl {
  Key key;
  Certificate certificate;
  long next_serial = 2;

  KeyPair sign(X509* leaf, EVP_PKEY* leaf_key) {
    check(X509_set_issuer_name(leaf, X509_get_subject_name(certificate.get())) == 1, "issuer");
    check(X509_sign(leaf, key.get(), EVP_sha256()) > 0, "sign");
    return {pem(leaf), pem(leaf_key)};
  }
};

Authority::Authority() : impl_(std::make_unique<Impl>()) {
  impl_->key = make_key();
  impl_->certificate = blank(impl_->key.get(), 1, "berth test authority", {});
  X509* own = impl_->certificate.get();
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign,digitalSignature");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  self_ = impl_->sign(own, impl_->key.get());
}

Authority::~Authority() = default;

KeyPair Authority::issue_server(const std::vector<std::string>& names) {
  const Key key = make_key();
  const Certificate leaf = blank(key.get(), impl_->next_serial++, names.at(0), {});
  std::string alternatives;
  for (const std::string& name : names)
    alternatives +=
        (alternatives.empty() ? "" : ",") + std::string(is_ipv4(name) ? "IP:" : "DNS:") + name;
  add_extension(leaf.get(), impl_->certificate.get(), NID_subject_alt_name, alternatives);
  add_extension(leaf.get(), impl_->certificate.get(), NID_ext_key_usage, "serverAuth");
  add_extension(leaf.get(), impl_->certificate.get(), NID_authority_key_identifier, "keyid");
  return impl_->sign(leaf.get(), key.get());
}

KeyPair Authority::issue_client(const std::string& user, const std::vector<std::string>& groups,
                                std::chrono::seconds valid) {
  const Key key = make_key();
  const Certificate leaf = blank(key.get(), impl_->next_serial++, user, groups);
  X509_gmtime_adj(X509_getm_notAfter(leaf.get()), static_cast<long>(valid.count()));
  add_extension(leaf.get(), impl_->certificate.get(), NID_ext_key_usage, "clientAuth");
  add_extension(leaf.get(), impl_->certificate.get(), NID_authority_key_identifier, "keyid");
  return impl_->sign(leaf.get(), key.get());
}

KeyPair make_signing_key() {
  const Key key = make_key();
  Memory out(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_PUBKEY(out.get(), key.get()) == 1, "write public key");
  return {text_of(out.get()), pem(key.get())};
}

std::string base64(const std::string& bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

}  // namespace berth::test
