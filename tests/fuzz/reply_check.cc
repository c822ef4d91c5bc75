// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "apis/base/eviction_outcome.h"
#include "apis/codec/decode.h"
#include "controller/client/discovery.h"
#include "controller/client/reply.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/plain_json.h"

namespace berth::test {
namespace {

std::vector<HttpHeader> take_headers(std::string_view& text) {
  std::vector<HttpHeader> headers;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(": "), line.size());
    headers.push_back({std::string(line.substr(0, colon)),
                       std::string(line.substr(std::min(colon + 2, line.size())))});
  }
  return headers;
}

std::string check_version(std::string_view body) {
  const std::string found = scan_resource_version(body);
  const std::optional<nlohmann::json> json = plain_json(body);
  if (!json || !json->is_object() || !json->contains("metadata")) return {};
  const nlohmann::json& metadata = (*json)["metadata"];
  if (!metadata.is_object() || !metadata.contains("resourceVersion")) return {};
  const nlohmann::json& version = metadata["resourceVersion"];
  // Keys and versions contain no escapes.
  if (!version.is_string() || body.find('\\') != body.npos) return {};
  return found == version.get_ref<const std::string&>()
             ? ""
             : "another resourceVersion: " + found + " in " + std::string(body);
}

std::string check_error(const Error& error, std::string_view body) {
  if (error.message.empty()) return "an error without words";
  if (error.message.size() > body.size() + 1000) return "an error at length: " + error.message;
  if (error.causes.size() > body.size()) return "causes from nowhere";
  if (std::string_view(to_string(classify_eviction(error))).empty())
    return "an outcome without a name";
  return {};
}

}  // namespace

Verdict check_reply(std::string_view input) {
  if (input.size() < 2) return {};
  const int code =
      (static_cast<unsigned char>(input[0]) << 8 | static_cast<unsigned char>(input[1]));
  std::string_view body = input.substr(2);
  const std::vector<HttpHeader> headers = take_headers(body);
  Error error = decode_status(code, body);
  const Error again = decode_status(code, body);
  if (describe(error) != describe(again)) return {.wrong = "decoded twice, and differently"};
  if (error.http_code != code && code != 0) return {.wrong = "another code"};
  if (const auto told = parse_retry_after(headers)) error.retry_after = told;
  std::size_t length = 0;
  for (const std::string& warning : parse_warnings(headers)) length += warning.size();
  if (length > input.size()) return {.wrong = "more warnings than came"};
  (void)encoding_of(headers);
  Verdict verdict{check_error(error, body), !error.reason.empty()};
  if (verdict.wrong.empty()) verdict.wrong = check_version(body);
  const Result<ServedResources> served = decode_served_resources(body);
  if (served.has_value()) {
    verdict.read = true;
    if (served->size() > body.size()) verdict.wrong = "resources from nowhere";
  }
  return verdict;
}

}  // namespace berth::test
