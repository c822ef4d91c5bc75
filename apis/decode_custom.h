// SPDX-License-Identifier: Apache-2.0
// What the readers of berth's own kinds share. Only for apis/*.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "apis/fields.h"
#include "apis/json_cursor.h"

namespace berth {

// False if the object's spec is not what the field table asks for: the first complaint is then the
// error. The server, which knows the same table, lets no such spec in.
bool check_spec(const JsonCursor& object, const Field& spec);

void read_conditions(const JsonCursor& conditions, std::vector<Condition>& out);

// The value whose to_string() stands there; the field table has refused every other text.
template <class E>
void read_enum(const JsonCursor& cursor, E& out, std::initializer_list<E> values) {
  std::string text;
  cursor.read(text);
  for (E value : values) {
    if (text == to_string(value)) out = value;
  }
}

}  // namespace berth
