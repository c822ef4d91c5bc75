// SPDX-License-Identifier: Apache-2.0
// Console: where commands write what people, or the next program, read. All of it goes through
// here, so that nothing an object, a file or a server says can act on a terminal.
#pragma once

#include <string_view>

#include "apis/result.h"

namespace berth {

// To standard output: lines of text, or a document of JSON or YAML. What stands in a line of text
// must have had its line breaks taken out (printable()), or it could pass for another line.
void put(std::string_view text);
// One line, whatever it holds.
void put_line(std::string_view line);

// To standard error.
void complain(std::string_view line);
// "berth plan: FILE:3: …", and 1, the exit code of every error.
int complain(std::string_view program, const Error& error);

}  // namespace berth
