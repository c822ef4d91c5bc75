// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/command_tree.h"

#include <sstream>

namespace berth {

std::vector<std::string> choices(const CommandOption& option) {
  std::vector<std::string> words;
  if (option.value.find('|') == std::string::npos) return words;
  std::istringstream list(option.value);
  for (std::string word; std::getline(list, word, '|');) words.push_back(std::move(word));
  return words;
}

}  // namespace berth
