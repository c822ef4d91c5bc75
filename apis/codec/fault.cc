// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/fault.h"

#include <fmt/format.h>

namespace berth {
namespace {

std::string_view describe_type(simdjson::ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  switch (token.empty() ? '\0' : token.front()) {
    case '{':
      return "an object";
    case '[':
      return "a list";
    case '"':
      return "a string";
    case 't':
    case 'f':
      return "true or false";
    case 'n':
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

bool Fault::wrong(simdjson::ondemand::value& value, std::string_view expected,
                  simdjson::error_code code) {
  if (code != simdjson::INCORRECT_TYPE && code != simdjson::NUMBER_ERROR &&
      code != simdjson::NUMBER_OUT_OF_RANGE) {
    return broken(code);
  }
  message_ = fmt::format("must be {}, is {}", expected, describe_type(value));
  return false;
}

bool Fault::broken(simdjson::error_code code) {
  message_ = fmt::format("is not valid JSON: {}", simdjson::error_message(code));
  return false;
}

bool Fault::bad(std::string message) {
  message_ = std::move(message);
  return false;
}

bool Fault::too_many() { return bad(fmt::format("holds more than {} items", kMaxItems)); }

bool Fault::under(std::string_view key) {
  std::string path(key.substr(0, 128));
  if (!path_.empty() && path_.front() != '[') path += ".";
  path_ = path + path_;
  return false;
}

bool Fault::at(std::size_t index) {
  std::string path = fmt::format("[{}]", index);
  if (!path_.empty() && path_.front() != '[') path += ".";
  path_ = path + path_;
  return false;
}

}  // namespace berth
