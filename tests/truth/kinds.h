// SPDX-License-Identifier: Apache-2.0
// Kind: what the truth check compares, and how a path to it is written. A table of its own: a path
// that the simulator got wrong must not be wrong on both sides.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth::truth {

struct Kind {
  std::string_view plural;
  std::string_view kind;
  std::string_view api_version;
  bool namespaced;
  bool has_status;
  bool rare = false;  // berth does little with them: tried a fifth as often
};

std::span<const Kind> kinds();
const Kind& kind_of(std::string_view plural);  // which must be one of them
// Of all namespaces: "".
std::string collection_path(const Kind& kind, const std::string& namespace_);

}  // namespace berth::truth
