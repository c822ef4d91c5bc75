// SPDX-License-Identifier: Apache-2.0
// Console: the output of commands, for users or for other programs. All output goes through it, so
// that text from an object, a file or a server can't control a terminal.
#pragma once

#include <string_view>

#include "apis/base/result.h"

namespace berth {

// Writes to standard output: lines of text, or a JSON or YAML document. Foreign text in a line must
// have no line breaks (printable()), because it could imitate another line.
void put(std::string_view text);
// One line, with any contents.
void put_line(std::string_view line);

// Writes to standard error.
void complain(std::string_view line);
// Writes "berth plan: FILE:3: …" and returns 1, the exit code of every error.
int complain(std::string_view program, const Error& error);

}  // namespace berth
