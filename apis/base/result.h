// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. g++ 12 in C++20 mode has no <expected>. The members have the
// names of std::expected, so Result can become an alias later.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace berth {

// The kinds of errors. A spec error becomes a condition on the object. For a cluster error berth
// requeues the key with backoff. The kind decides, never the text.
enum class ErrorKind {
  kInvalidSpec,    // a user must fix it: the error names object, field and what to write
  kDecode,         // bytes from outside that berth can't decode
  kNotFound,       // 404
  kAlreadyExists,  // 409 AlreadyExists
  kConflict,       // 409 Conflict, and the bare 422 of a failed JSON patch test
  kGone,           // 410: the watch window or the continue token has expired
  kInvalid,        // 422: the server refused the object, with causes
  kForbidden,      // 403
  kUnauthorized,   // 401
  kThrottled,      // 429
  kTimeout,        // berth's deadline, 408 or 504
  kUnavailable,    // no connection, 502, 503
  kServer,         // any other 5xx
  kBadRequest,     // any other 4xx
  kCancelled,      // berth cancelled the request
};

const char* to_string(ErrorKind kind);

// One entry of a Status' details.causes.
struct ErrorCause {
  std::string reason;  // DisruptionBudget, FieldManagerConflict, FieldValueInvalid, …
  std::string message;
  std::string field;
  bool operator==(const ErrorCause&) const = default;
};

struct Error {
  ErrorKind kind = ErrorKind::kServer;
  std::string message;  // a sentence
  std::string where;    // a field path or object key; empty if the message contains it
  int http_code = 0;    // 0: no reply
  std::string reason;   // metav1.Status.reason as the server sent it; empty if it sent none
  std::vector<ErrorCause> causes;                   // metav1.Status.details.causes
  std::optional<std::chrono::seconds> retry_after;  // the Retry-After header
};

// "where: message", or only the message.
std::string describe(const Error& error);

inline Error invalid_spec(std::string where, std::string message) {
  return Error{
      .kind = ErrorKind::kInvalidSpec, .message = std::move(message), .where = std::move(where)};
}
inline Error decode_error(std::string where, std::string message) {
  return Error{
      .kind = ErrorKind::kDecode, .message = std::move(message), .where = std::move(where)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit, as std::expected
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit, as std::expected

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace berth
