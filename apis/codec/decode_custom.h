// SPDX-License-Identifier: Apache-2.0
// DecodeCustom: shared by the readers of berth's own kinds. Only for apis/codec/*.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "apis/codec/json_cursor.h"
#include "apis/kinds/fields.h"

namespace berth {

// False if the object's spec breaks the field table; the error is then the first complaint. The API
// server validates with an equal table, so it never stores such a spec.
bool check_spec(const JsonCursor& object, const Field& spec);

void read_conditions(const JsonCursor& conditions, std::vector<Condition>& out);

// The value whose to_string() is the text. The field table has already refused all other texts.
template <class E>
void read_enum(const JsonCursor& cursor, E& out, std::initializer_list<E> values) {
  std::string text;
  cursor.read(text);
  for (E value : values) {
    if (text == to_string(value)) out = value;
  }
}

}  // namespace berth
