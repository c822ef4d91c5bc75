// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/query.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace berth::truth {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-_.~").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

void ReadQuery::add(const std::string& key, const std::string& value) {
  if (!value.empty()) add_raw(key + "=" + escaped(value));
}

void ReadQuery::add_raw(const std::string& option) {
  text_ += (text_.empty() ? "?" : "&") + option;
}

std::string some_label_selector(ScriptDraft& draft, bool all, bool plain) {
  std::string selector;
  if (draft.random.one_in(plain ? 3 : 2))
    selector =
        plain ? draft.objects.any_of({"a=x", "b", "a in (x,y)", "b=x,a"})
              : draft.objects.any_of({"a=x", "a!=x", "c", "!c", "a in (x,y)", "a notin (x)",
                                      "a==y,b=x", "c notin (x),b", "a in x", "=x", "a=no way"});
  if (!all) return selector;
  return "script=" + draft.name() + (selector.empty() ? "" : "," + selector);
}

}  // namespace berth::truth
