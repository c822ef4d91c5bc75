// SPDX-License-Identifier: Apache-2.0
#include "controller/core/writable_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/names.h"

namespace berth {

std::string KeyList::str() const {
  if (all) return "all";
  return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ","));
}

bool KeyList::contains(std::string_view key) const {
  const std::string_view prefix = names::kGroup;
  const bool own = key.starts_with(prefix) && key.substr(prefix.size()).starts_with('/');
  return all || own || std::ranges::find(keys, key) != keys.end();
}

KeyList read_key_list(std::string_view text) {
  KeyList list{.all = text == "all", .keys = {}};
  if (list.all || text == "none") return list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view key = text.substr(0, comma);
    if (!key.empty()) list.keys.emplace_back(key);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return list;
}

}  // namespace berth
