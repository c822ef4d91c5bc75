// SPDX-License-Identifier: Apache-2.0
// Printable: makes untrusted text (annotations, labels, an API server's messages, files) safe for a
// terminal or a log. A user who can annotate a node must not be able to move an administrator's
// cursor, set a title, forge a line or change the reading direction.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// As one line. Control characters (also C1), line separators and direction marks are written as \n
// or \u001b, as JSON writes them. Bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// The same, but keeps line breaks. A JSON or YAML document keeps its meaning: both allow such
// characters only in strings, where an escape means the same character.
std::string printable_lines(std::string_view text);

// A JSON string with its quotes, as safe for a terminal as printable().
std::string printable_quoted(std::string_view text);

}  // namespace berth
