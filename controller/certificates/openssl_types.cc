// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/openssl_types.h"

#include <openssl/pem.h>

#include <ctime>

namespace berth {
namespace {

int no_password(char*, int, int, void*) { return 0; }

std::optional<Time> read_time(const ASN1_TIME* time) {
  std::tm calendar{};
  if (ASN1_TIME_to_tm(time, &calendar) != 1) return std::nullopt;
  return Time(std::chrono::seconds(timegm(&calendar)));
}

}  // namespace

Bio read_from(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

X509Certificate read_certificate(BIO* from) {
  return X509Certificate(PEM_read_bio_X509(from, nullptr, no_password, nullptr));
}

PrivateKey read_key(BIO* from) {
  return PrivateKey(PEM_read_bio_PrivateKey(from, nullptr, no_password, nullptr));
}

std::optional<Time> beginning_of(const X509& certificate) {
  return read_time(X509_get0_notBefore(&certificate));
}

std::optional<Time> end_of(const X509& certificate) {
  return read_time(X509_get0_notAfter(&certificate));
}

}  // namespace berth
