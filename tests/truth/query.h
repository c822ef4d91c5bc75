// SPDX-License-Identifier: Apache-2.0
// ReadQuery: the escaped options of a list or a watch, and the label selectors of scripts.
#pragma once

#include <string>

#include "tests/truth/script_draft.h"

namespace berth::truth {

class ReadQuery {
 public:
  // Adds nothing for an empty value.
  void add(const std::string& key, const std::string& value);
  // Unescaped, for placeholders.
  void add_raw(const std::string& option);
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// `all`: the collection also holds other scripts' objects. `plain`: none that the server refuses.
std::string some_label_selector(ScriptDraft& draft, bool all, bool plain);

}  // namespace berth::truth
