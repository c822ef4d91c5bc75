// SPDX-License-Identifier: Apache-2.0
// ReadQuery: the options of a list or a watch, escaped, and the label selectors that scripts use.
#pragma once

#include <string>

#include "tests/truth/script_draft.h"

namespace berth::truth {

class ReadQuery {
 public:
  // Nothing is added for an empty value.
  void add(const std::string& key, const std::string& value);
  // As it stands: placeholders are not escaped.
  void add_raw(const std::string& option);
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// `all`: the collection holds other scripts' objects too. `plain`: none that the server refuses.
std::string some_label_selector(ScriptDraft& draft, bool all, bool plain);

}  // namespace berth::truth
