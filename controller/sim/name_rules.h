// SPDX-License-Identifier: Apache-2.0
// How names are spelled: of objects, of labels and annotations, of gates.
#pragma once

#include <string_view>

namespace berth::sim {

// "a-b.c": what most names are, and the first part of a label's key.
bool is_subdomain(std::string_view text);
// "Some_value.1": a label's value, and the second part of its key.
bool is_label_part(std::string_view text);
// "example.com/key", or the second part alone.
bool is_qualified_name(std::string_view text);

}  // namespace berth::sim
