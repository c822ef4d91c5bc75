// SPDX-License-Identifier: Apache-2.0
// FittedName: makes a name that berth's rules accept from one that they may refuse.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

enum class NameGrammar { kLabel, kSubdomain };  // kLabel: without dots

// The text itself if it is a valid name of at most `most` characters (10 or more). Else as much of
// it as fits, plus a hash of the whole text, so that different texts get different names.
std::string fitted_name(std::string_view text, std::size_t most, NameGrammar grammar);

// Whether Kubernetes accepts the text as the name of an object, or of a namespace.
bool is_object_name(std::string_view text);
bool is_namespace_name(std::string_view text);

}  // namespace berth
