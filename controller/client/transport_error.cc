// SPDX-License-Identifier: Apache-2.0
#include "controller/client/transport_error.h"

#include <utility>

namespace berth {
namespace {

constexpr char kTooLarge[] = "ReplyTooLarge";

struct Meaning {
  ErrorKind kind;
  const char* sentence;
};

Meaning meaning_of(TransportOutcome outcome) {
  switch (outcome) {
    case TransportOutcome::kComplete:
      break;
    case TransportOutcome::kCannotConnect:
      return {ErrorKind::kUnavailable, "cannot connect to the API server"};
    case TransportOutcome::kTlsFailed:
      return {ErrorKind::kUnavailable, "the TLS handshake with the API server failed"};
    case TransportOutcome::kBroken:
      return {ErrorKind::kUnavailable, "the connection to the API server broke"};
    case TransportOutcome::kTimeout:
      return {ErrorKind::kTimeout, "the API server did not answer in time"};
    case TransportOutcome::kTooLarge:
      return {ErrorKind::kDecode, "the reply is larger than berth accepts"};
    case TransportOutcome::kCancelled:
      return {ErrorKind::kCancelled, "cancelled"};
    case TransportOutcome::kNoCredentials:
      return {ErrorKind::kUnauthorized, "there is nothing to log in with"};
  }
  return {ErrorKind::kServer, "the API server's reply made no sense"};
}

}  // namespace

Error transport_error(TransportOutcome outcome, std::string detail) {
  const Meaning meaning = meaning_of(outcome);
  if (detail.empty()) detail = meaning.sentence;
  Error error{.kind = meaning.kind, .message = std::move(detail)};
  if (outcome == TransportOutcome::kTooLarge) error.causes.push_back({.reason = kTooLarge});
  return error;
}

bool is_too_large(const Error& error) {
  return error.http_code == 0 && !error.causes.empty() && error.causes.front().reason == kTooLarge;
}

}  // namespace berth
