// SPDX-License-Identifier: Apache-2.0
#include "apis/pod_trouble.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/cut.h"
#include "apis/names.h"

namespace berth {
namespace {

// The kubelet's words are short; whoever else writes a status may have written a book.
constexpr std::size_t kLongestReason = 64;
constexpr std::size_t kLongestWords = 300;

// The end of it, in one line.
std::string end_of(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  if (text.size() > kLongestWords) text.remove_prefix(text.size() - kLongestWords);
  // Not from the middle of a character.
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80)
    text.remove_prefix(1);
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

}  // namespace

void note_waiting(std::string_view reason, std::string& first) {
  if (!first.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return;
  first = head(reason, kLongestReason);
}

void note_end(std::int64_t exit_code, std::string_view message, std::string& first) {
  if (!first.empty() || exit_code == 0) return;
  const std::string words = end_of(message);
  first = fmt::format("exit code {}{}{}", exit_code, words.empty() ? "" : ": ", words);
}

void PodTrouble::keep_in(Pod& pod) && {
  pod.trouble = Text(!reason.empty()         ? head(reason, kLongestReason)
                     : !init_waiting.empty() ? init_waiting
                                             : waiting);
  pod.last_words = Text(pod.meta.labels.contains(names::kProofLabel) ? last_words : std::string());
}

}  // namespace berth
