// SPDX-License-Identifier: Apache-2.0
#include "controller/sampling/prometheus_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/base64.h"
#include "apis/base/reasons.h"
#include "apis/codec/json_cursor.h"
#include "apis/codec/parse_json.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// Sixteen times the answer of the largest cluster. The answer is parsed as it arrives.
constexpr std::size_t kMaxAnswerBytes = 256u << 20;
constexpr std::chrono::milliseconds kRound = 60s;  // all of its queries together
constexpr std::chrono::milliseconds kQuery = 25s;
constexpr std::chrono::milliseconds kCount = 10s;

std::string without_slash(const std::string& url) {
  return url.substr(0, url.find_last_not_of('/') + 1);
}

const char* reason_of(const Error& error) {
  if (error.kind == ErrorKind::kUnauthorized || error.kind == ErrorKind::kForbidden)
    return reasons::kMetricsRefused;
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kTimeout
             ? reasons::kMetricsUnreachable
             : reasons::kMetricsUnreadable;
}

Cause trouble_with(const PrometheusSpec& spec, const Error& error) {
  const char* reason = reason_of(error);
  const bool refused = reason == std::string_view(reasons::kMetricsRefused);
  return {reason, fmt::format("spec.metrics.prometheus.url {}: {}{}", spec.url, describe(error),
                              refused ? "; see spec.metrics.prometheus.bearerTokenSecretRef" : "")};
}

}  // namespace

// Read once per round, so that a replaced token is used at once and none is kept in memory.
Task<Result<std::string>> PrometheusSource::read_token(SecretKeyRef secret, std::stop_token stop) {
  ApiRequest request = get_request("/api/v1/namespaces/" + namespace_ + "/secrets/" + secret.name);
  request.max_reply_bytes = 2u << 20;
  const Result<Reply> reply =
      co_await client_.send(std::move(request), CallOptions(Lane::kWrite, stop, 10s));
  if (!reply.has_value()) co_return reply.error();
  const nlohmann::json json = parse_foreign_json(reply->body);
  std::optional<Error> wrong;
  std::string encoded;
  JsonCursor(&json, wrong)["data"][secret.key].read(encoded);
  const std::optional<std::string> token = decode_base64(encoded);
  if (wrong || !token || token->empty())
    co_return invalid_spec("", fmt::format("has no text under {}", secret.key));
  const std::size_t end = token->find_last_not_of(" \r\n\t");
  co_return token->substr(0, end == std::string::npos ? 0 : end + 1);
}

// Sets the server's address and token.
Task<std::optional<Cause>> PrometheusSource::set_up(PrometheusSpec spec, ClientConfig& config,
                                                    std::stop_token stop) {
  config.server = without_slash(spec.url);
  if (!spec.ca_bundle.empty()) {
    const std::optional<std::string> pem = decode_base64(spec.ca_bundle);
    if (!pem)
      co_return Cause{reasons::kMetricsRefused,
                      "spec.metrics.prometheus.caBundle is not base64 of PEM"};
    config.certificate_authority.data = *pem;
  }
  if (!spec.bearer_token_secret_ref) co_return std::nullopt;
  if (token_url_.empty() || config.server != without_slash(token_url_))
    co_return Cause{
        reasons::kMetricsRefused,
        fmt::format("berth sends a token to {} alone, and spec.metrics.prometheus.url is {}: it is "
                    "not asked; set the chart's policy.prometheusTokenURL, or remove "
                    "spec.metrics.prometheus.bearerTokenSecretRef",
                    token_url_.empty() ? "the chart's policy.prometheusTokenURL, which is empty,"
                                       : token_url_,
                    spec.url)};
  const SecretKeyRef secret = *spec.bearer_token_secret_ref;
  Result<std::string> token = co_await read_token(secret, stop);
  if (!token.has_value())
    co_return Cause{reasons::kMetricsRefused,
                    fmt::format("Secret {}/{} can't be read: {}; the chart lets berth read the "
                                "one that policy.prometheusTokenSecret names",
                                namespace_, secret.name, describe(token.error()))};
  config.token = *std::move(token);
  co_return std::nullopt;
}

Task<std::optional<Cause>> PrometheusSource::fetch(PrometheusSpec spec, SeriesMatch match,
                                                   SamplingWindow window, bool with_history,
                                                   Round& round, std::stop_token stop) {
  ClientConfig config;
  if (std::optional<Cause> refused = co_await set_up(spec, config, stop)) co_return refused;
  const std::unique_ptr<Transport> transport = connect_(std::move(config));
  Loop& loop = client_.loop();
  const MonotonicTime end = loop.now() + kRound;
  for (const PrometheusQuery& query : prometheus_queries(window, with_history, match)) {
    PrometheusAnswer answer = answer_into(round, query, window, match);
    GetRequest request{.target = query.target,
                       .headers = {{"Accept", "application/json"}},
                       .deadline = std::min<std::chrono::milliseconds>(
                           kQuery, std::chrono::ceil<std::chrono::milliseconds>(end - loop.now())),
                       .max_bytes = kMaxAnswerBytes};
    if (request.deadline <= 0ms)
      co_return Cause{reasons::kMetricsUnreachable,
                      fmt::format("spec.metrics.prometheus.url {}: a round of queries takes longer "
                                  "than {} s",
                                  spec.url, kRound / 1s)};
    const Result<void> done = co_await http_get(
        loop, *transport, std::move(request),
        [&answer](std::string_view bytes) { answer.take(bytes); }, stop);
    if (!done.has_value()) co_return trouble_with(spec, done.error());
    const Result<std::size_t> read = answer.end();
    if (!read.has_value()) co_return trouble_with(spec, read.error());
    round.ignored().add_unread(answer.unread());
  }
  if (loop.now() < end) co_await count_foreign(*transport, match, round, stop);
  co_return std::nullopt;
}

// Only for the policy's status: the round is complete without it.
Task<void> PrometheusSource::count_foreign(Transport& transport, SeriesMatch match, Round& round,
                                           std::stop_token stop) {
  PrometheusAnswer answer = foreign_into(round);
  GetRequest request{.target = foreign_query(match),
                     .headers = {{"Accept", "application/json"}},
                     .deadline = kCount};
  (void)co_await http_get(
      client_.loop(), transport, std::move(request),
      [&answer](std::string_view bytes) { answer.take(bytes); }, stop);
}

}  // namespace berth
