// SPDX-License-Identifier: Apache-2.0
#include "apis/base/result.h"

namespace berth {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidSpec:
      return "InvalidSpec";
    case ErrorKind::kDecode:
      return "Decode";
    case ErrorKind::kNotFound:
      return "NotFound";
    case ErrorKind::kAlreadyExists:
      return "AlreadyExists";
    case ErrorKind::kConflict:
      return "Conflict";
    case ErrorKind::kGone:
      return "Gone";
    case ErrorKind::kInvalid:
      return "Invalid";
    case ErrorKind::kForbidden:
      return "Forbidden";
    case ErrorKind::kUnauthorized:
      return "Unauthorized";
    case ErrorKind::kThrottled:
      return "Throttled";
    case ErrorKind::kTimeout:
      return "Timeout";
    case ErrorKind::kUnavailable:
      return "Unavailable";
    case ErrorKind::kServer:
      return "Server";
    case ErrorKind::kBadRequest:
      return "BadRequest";
    case ErrorKind::kCancelled:
      return "Cancelled";
  }
  return "Unknown";
}

std::string describe(const Error& error) {
  return error.where.empty() ? error.message : error.where + ": " + error.message;
}

}  // namespace berth
