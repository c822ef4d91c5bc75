// SPDX-License-Identifier: Apache-2.0
// Fault: the first error in a document, and where it is. The readers prepend their names to the
// path while they return, so a good document costs nothing.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "apis/base/result.h"

namespace berth {

class Fault {
 public:
  // Wrong type, or broken JSON if simdjson says so.
  bool wrong(simdjson::ondemand::value& value, std::string_view expected,
             simdjson::error_code code);
  bool broken(simdjson::error_code code);
  bool bad(std::string message);
  bool too_many();                   // items
  bool under(std::string_view key);  // prepends ".key"
  bool at(std::size_t index);        // prepends "[3]"
  Error error() const { return decode_error(path_, message_); }

 private:
  std::string path_;
  std::string message_;
};

// The most items of one list: far more than any object or page has, and cheap even if two bytes of
// JSON become a hundred bytes in memory.
inline constexpr std::size_t kMaxItems = 20'000;

}  // namespace berth
