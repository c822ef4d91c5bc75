// SPDX-License-Identifier: Apache-2.0
// Printable: text that others wrote (annotations, labels, an API server's messages, files) fit for
// a terminal or a log. Whoever may annotate a node must not move a cursor, set a title, forge a
// line or turn the reading direction where an administrator looks.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// In one line: control characters, C1 ones as well, line separators and marks of direction are
// written as \n or \u001b, the way JSON writes them; bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// The same, but a line break stays one. A document of JSON or of YAML that has gone through it
// reads as before: beyond ASCII both are free in their strings only, and there an escape is as
// good as the character.
std::string printable_lines(std::string_view text);

// A JSON string, quotes included, as fit for a terminal as printable().
std::string printable_quoted(std::string_view text);

}  // namespace berth
