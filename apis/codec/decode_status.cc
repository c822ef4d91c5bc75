// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode_frame.h"
#include "apis/codec/decode_protobuf.h"

namespace berth {
namespace {

// The server's answer to a failed `test` of a JSON patch. It has no cause, and it means a conflict,
// not an invalid object.
constexpr std::string_view kFailedTest =
    "the server rejected our request due to an error in our request";

ErrorKind kind_of(int code, std::string_view reason) {
  if (reason == "Expired" || reason == "Gone") return ErrorKind::kGone;
  switch (code) {
    case 401:
      return ErrorKind::kUnauthorized;
    case 403:
      return ErrorKind::kForbidden;
    case 404:
      return ErrorKind::kNotFound;
    case 408:
      return ErrorKind::kTimeout;
    case 409:
      return reason == "AlreadyExists" ? ErrorKind::kAlreadyExists : ErrorKind::kConflict;
    case 410:
      return ErrorKind::kGone;
    case 422:
      return ErrorKind::kInvalid;
    case 429:
      return ErrorKind::kThrottled;
    case 502:
    case 503:
      return ErrorKind::kUnavailable;
    case 504:
      return ErrorKind::kTimeout;
    default:
      return code >= 400 && code < 500 ? ErrorKind::kBadRequest : ErrorKind::kServer;
  }
}

std::string_view meaning_of(int code) {
  switch (code) {
    case 400:
      return "bad request";
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "not found";
    case 408:
      return "request timeout";
    case 409:
      return "conflict";
    case 410:
      return "gone";
    case 413:
      return "request too large";
    case 415:
      return "unsupported media type";
    case 422:
      return "unprocessable entity";
    case 429:
      return "too many requests";
    case 500:
      return "internal server error";
    case 502:
      return "bad gateway";
    case 503:
      return "service unavailable";
    case 504:
      return "gateway timeout";
    default:
      return "unexpected reply";
  }
}

constexpr std::size_t kMaxStatusBytes = 256 << 10;

// Quotes the start of a plain-text body, but no HTML page.
std::string quote(std::string_view body) {
  std::string text;
  for (char c : body.substr(0, 200)) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r') break;
    if (byte < ' ' || byte >= 0x7F) return "";
    text.push_back(c);
  }
  return text.find('<') == std::string::npos ? text : "";
}

}  // namespace

Error judged(Error error) {
  error.kind = kind_of(error.http_code, error.reason);
  if (error.http_code == 422 && error.causes.empty() &&
      std::string_view(error.message).starts_with(kFailedTest)) {
    error.kind = ErrorKind::kConflict;
  }
  if (error.message.empty()) {
    error.message = fmt::format("the API server answered {} ({})", error.http_code,
                                error.reason.empty() ? meaning_of(error.http_code) : error.reason);
  }
  return error;
}

Error read_status(int http_code, const nlohmann::json& status) {
  std::optional<Error> ignored;  // berth uses the readable parts of a Status
  JsonCursor root(&status, ignored);
  Error error;
  std::int32_t code = 0;
  root["code"].read(code);
  error.http_code = http_code != 0 ? http_code : code;
  root["reason"].read(error.reason);
  root["message"].read(error.message);
  for (const JsonCursor& item : root["details"]["causes"].items()) {
    ErrorCause& cause = error.causes.emplace_back();
    item["reason"].read(cause.reason);
    item["message"].read(cause.message);
    item["field"].read(cause.field);
  }
  std::int32_t retry_after = 0;
  root["details"]["retryAfterSeconds"].read(retry_after);
  if (retry_after > 0) error.retry_after = std::chrono::seconds(retry_after);
  return judged(std::move(error));
}

Error decode_status(int http_code, std::string_view body) {
  if (is_protobuf(body)) return decode_protobuf_status(http_code, body);
  // A larger body is no Status, and a document of it would cost too much memory.
  const std::string_view status = body.size() <= kMaxStatusBytes ? body : std::string_view();
  nlohmann::json json = nlohmann::json::parse(status, nullptr, false);
  if (json.is_object() && json.contains("kind") && json["kind"] == "Status") {
    return read_status(http_code, json);
  }
  Error error{.kind = kind_of(http_code, ""), .http_code = http_code};
  error.message = fmt::format("the server answered {} ({})", http_code, meaning_of(http_code));
  std::string text = quote(body);
  if (!text.empty()) error.message += ": " + text;
  return error;
}

}  // namespace berth
