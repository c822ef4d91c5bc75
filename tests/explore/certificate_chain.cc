// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/certificate_chain.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "controller/certificates/openssl_types.h"

namespace berth::explore {
namespace {

using Roots = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using Question = std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>>;

}  // namespace

bool CertificateChain::believes(const std::string& bundle, const std::string& leaf, Time now) {
  const auto pair = std::make_pair(bundle, leaf);
  auto found = known_.find(pair);
  if (found == known_.end()) {
    const auto fresh = lives(bundle, leaf, now);
    if (!fresh) return false;
    found = known_.emplace(pair, *fresh).first;
  }
  return found->second.first <= now && now < found->second.second;
}

std::optional<std::pair<Time, Time>> CertificateChain::lives(const std::string& bundle,
                                                             const std::string& leaf,
                                                             Time now) const {
  const Roots roots(X509_STORE_new());
  const Bio from = read_from(bundle);
  while (const X509Certificate root = read_certificate(from.get()))
    X509_STORE_add_cert(roots.get(), root.get());
  const X509Certificate shown = read_certificate(read_from(leaf).get());
  const Question question(X509_STORE_CTX_new());
  std::optional<std::pair<Time, Time>> lives;
  if (shown != nullptr &&
      X509_STORE_CTX_init(question.get(), roots.get(), shown.get(), nullptr) == 1) {
    X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(question.get());
    X509_VERIFY_PARAM_set_time(param, std::chrono::system_clock::to_time_t(now));
    X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set1_host(param, host_.c_str(), host_.size());
    if (X509_verify_cert(question.get()) == 1) {
      lives = {Time::min(), Time::max()};
      STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(question.get());
      for (int i = 0; i < sk_X509_num(chain); ++i) {
        const X509& link = *sk_X509_value(chain, i);
        lives->first = std::max(lives->first, beginning_of(link).value_or(Time::max()));
        lives->second = std::min(lives->second, end_of(link).value_or(Time::min()));
      }
    }
  }
  ERR_clear_error();
  return lives;
}

}  // namespace berth::explore
