// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page.h"

#include <string_view>

#include "controller/page/page_parts.h"
#include "controller/page/page_state.h"

namespace berth {
namespace {

// Inside a script element no text may end it, whatever an object is called; JSON reads the same.
std::string as_script_data(const std::string& json) {
  std::string data;
  data.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      data += "\\u003c";
    else
      data += c;
  return data;
}

void fill(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string print_page(const Snapshot& snapshot, const Clues& clues) {
  std::string page = kPageHtml;
  fill(page, "{{css}}", kPageCss);
  fill(page, "{{js}}", kPageJs);
  fill(page, "{{state}}", as_script_data(page_state(snapshot, clues)));
  return page;
}

}  // namespace berth
