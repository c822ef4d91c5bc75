// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects in owning pointers.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>
#include <string_view>

#include "apis/base/time.h"

namespace berth {

template <auto kFree>
struct OpensslFree {
  template <class T>
  void operator()(T* what) const {
    kFree(what);
  }
};
inline void free_certificates(STACK_OF(X509) * all) { sk_X509_pop_free(all, X509_free); }

using Bio = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using X509Certificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using X509Certificates = std::unique_ptr<STACK_OF(X509), OpensslFree<free_certificates>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

// Reads from the text, which must outlive the result.
Bio read_from(std::string_view text);
// The next certificate, or null. The error queue shows whether the text ended.
X509Certificate read_certificate(BIO* from);
// Null for an encrypted key: there is no user to ask for the password.
PrivateKey read_key(BIO* from);
std::optional<Time> beginning_of(const X509& certificate);
std::optional<Time> end_of(const X509& certificate);

}  // namespace berth
