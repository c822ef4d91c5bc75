// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/console.h"

#include <cstdio>
#include <string>

#include "apis/base/printable.h"

namespace berth {

void put(std::string_view text) {
  const std::string safe = printable_lines(text);
  std::fwrite(safe.data(), 1, safe.size(), stdout);
}

void put_line(std::string_view line) { put(printable(line) + "\n"); }

void complain(std::string_view line) {
  const std::string safe = printable(line) + "\n";
  std::fwrite(safe.data(), 1, safe.size(), stderr);
}

int complain(std::string_view program, const Error& error) {
  complain(std::string(program) + ": " + describe(error));
  return 1;
}

}  // namespace berth
