// SPDX-License-Identifier: Apache-2.0
// FittedName: a name that berth's rules take, for one that they may not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

enum class NameGrammar { kLabel, kSubdomain };  // kLabel: without dots

// The text itself where it is such a name of at most `most` characters (10 or more); else as much
// of it as fits, with a hash of the whole, so that two texts stay two names.
std::string fitted_name(std::string_view text, std::size_t most, NameGrammar grammar);

// Whether Kubernetes takes it as an object's name; as a namespace's.
bool is_object_name(std::string_view text);
bool is_namespace_name(std::string_view text);

}  // namespace berth
