// SPDX-License-Identifier: Apache-2.0
// NameRules: the syntax of names of objects, labels, annotations and gates.
#pragma once

#include <string_view>

namespace berth::sim {

// "a-b.c": most objects' names, and the prefix of a label key.
bool is_subdomain(std::string_view text);
// "Some_value.1": a label's value, and the name part of its key.
bool is_label_part(std::string_view text);
// "example.com/key", or only the name part.
bool is_qualified_name(std::string_view text);

}  // namespace berth::sim
