// SPDX-License-Identifier: Apache-2.0
// Kind: what the truth check compares, and the paths of its objects. A table of its own: a wrong
// path in the simulator must not be wrong on both sides.
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
  bool rare = false;  // berth uses it little: tried a fifth as often
};

std::span<const Kind> kinds();
const Kind& kind_of(std::string_view plural);  // it must be one of them
// "": all namespaces.
std::string collection_path(const Kind& kind, const std::string& namespace_);

}  // namespace berth::truth
