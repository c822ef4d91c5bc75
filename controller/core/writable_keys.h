// SPDX-License-Identifier: Apache-2.0
// WritableKeys: the keys of labels and taints that berth may write on nodes, apart from its own.
// The chart's admission policy enforces the same list, so berth does not try other keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct KeyList {
  bool all = true;  // no list restricts berth
  std::vector<std::string> keys;

  // "all", "none", or the keys separated by commas.
  std::string str() const;
  // Every list contains the keys with berth's own prefix.
  bool contains(std::string_view key) const;
  bool operator==(const KeyList&) const = default;
};
KeyList read_key_list(std::string_view text);

struct WritableKeys {
  KeyList labels, taints;
  bool operator==(const WritableKeys&) const = default;
};

}  // namespace berth
