// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/login_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apis/base/base64.h"
#include "apis/codec/parse_json.h"
#include "controller/certificates/certificate_facts.h"

namespace berth {
namespace {

std::string date_of(Time time) { return format_time(time).substr(0, std::size("2026-11-23") - 1); }

std::string text_of(const PemSource& source, const Host& host) {
  if (!source.data.empty()) return source.data;
  return host.read_file(source.file).text.value_or("");
}

// The expiry of a bearer token that is a JSON Web Token, as for ServiceAccounts and most identity
// providers. The signature is not verified.
std::optional<Time> end_of_token(const std::string& token) {
  const std::size_t begin = token.find('.'), end = token.find('.', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  std::string payload = token.substr(begin + 1, end - begin - 1);
  std::ranges::replace(payload, '-', '+');
  std::ranges::replace(payload, '_', '/');
  payload.append((4 - payload.size() % 4) % 4, '=');
  const std::optional<std::string> text = decode_base64(payload);
  if (!text) return std::nullopt;
  const nlohmann::json claims = parse_foreign_json(*text);
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  const auto claim = claims.is_object() ? claims.find("exp") : claims.end();
  if (claim == claims.end() || !claim->is_number_integer()) return std::nullopt;
  const auto seconds = claim->get<std::int64_t>();
  if (seconds < 0 || seconds >= kYear10000) return std::nullopt;
  return Time(std::chrono::seconds(seconds));
}

std::string advice_on_token(const std::string& what, const std::string& token, Time now) {
  const std::optional<Time> end = end_of_token(token);
  if (end && *end < now)
    return fmt::format("{} ended at {}; log in again, or put a new one there", what,
                       format_time(*end));
  return fmt::format(
      "{} is not accepted: it is another cluster's, was revoked or has ended; log in again, or put "
      "a new one there (kubectl create token makes one of a ServiceAccount)",
      what);
}

}  // namespace

std::string login_advice(const ClientConfig& config, const Host& host, Time now) {
  // In the order of precedence in the API server.
  if (!config.client_certificate.empty()) {
    const std::string what = "the client certificate " + (config.client_certificate.file.empty()
                                                              ? "in " + config.origin
                                                              : config.client_certificate.file);
    const auto facts = read_certificate_facts(text_of(config.client_certificate, host));
    if (facts && facts->validity.until < now)
      return fmt::format("{} ended on {}; have a new one signed", what,
                         date_of(facts->validity.until));
    if (facts && now < facts->validity.from)
      return fmt::format("{} begins on {} only; is this machine's clock right?", what,
                         date_of(facts->validity.from));
    if (config.token.empty() && config.token_file.empty())
      return what + " is not accepted: this API server does not know who signed it";
  }
  if (!config.token_file.empty())
    return advice_on_token("the token in " + config.token_file,
                           host.read_file(config.token_file).text.value_or(""), now);
  if (!config.token.empty())
    return advice_on_token("the token in " + config.origin, config.token, now);
  if (config.exec)
    return fmt::format("what the credential plugin {} gave is not accepted; log in anew by it",
                       config.exec->command);
  if (!config.username.empty())
    return "user name and password in " + config.origin +
           " are not accepted; Kubernetes has not taken any since 1.19";
  return config.origin + " says nobody to log in as: put a token or a client certificate there";
}

}  // namespace berth
