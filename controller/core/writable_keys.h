// SPDX-License-Identifier: Apache-2.0
// WritableKeys: the keys of labels and taints that berth may write on nodes besides its own. An
// admission policy holds it to them, as the chart's does, so that trying others is of no use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct KeyList {
  bool all = true;  // nobody holds berth to any
  std::vector<std::string> keys;

  // "all", "none", or the keys separated by commas.
  std::string str() const;
  // Keys of berth's own prefix are in each.
  bool contains(std::string_view key) const;
  bool operator==(const KeyList&) const = default;
};
KeyList read_key_list(std::string_view text);

struct WritableKeys {
  KeyList labels, taints;
  bool operator==(const WritableKeys&) const = default;
};

}  // namespace berth
