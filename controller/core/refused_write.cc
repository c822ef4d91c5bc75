// SPDX-License-Identifier: Apache-2.0
#include "controller/core/refused_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apis/base/cut.h"
#include "controller/core/conditions.h"

namespace berth {
namespace {

constexpr std::size_t kMaxPurpose = 60;
constexpr std::size_t kMaxWords = 150;

// One line, to be quoted in a message. It omits the server's prefix, `nodes "n3" is forbidden: `:
// the reader knows the object, and the message has little space.
std::string words_of(const Error& error) {
  std::string_view text = error.message;
  for (const std::string_view lead : {" is forbidden: ", " is invalid: "}) {
    const std::size_t at = text.find(lead);
    if (at != text.npos && text.substr(0, at).ends_with('"') && at + lead.size() < text.size())
      text.remove_prefix(at + lead.size());
  }
  std::string words(text);
  for (char& c : words) {
    if (c == '"') c = '\'';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return cut(std::move(words), kMaxWords);
}

RefusedWrite told(const Answer& answer) {
  return {answer.object, told_refusal(answer.reason, answer.error), answer.at, answer.times,
          answer.since};
}

// berth retries failed writes after a minute at most.
Duration counts_for(const Snapshot& snapshot) {
  return kRequestTimeout + snapshot.settings.answer_ttl;
}

}  // namespace

bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::kForbidden || error.kind == ErrorKind::kInvalid ||
         error.kind == ErrorKind::kInvalidSpec || error.kind == ErrorKind::kBadRequest;
}

std::string told_refusal(std::string_view purpose, const Error& error) {
  return fmt::format(
      "the API server refuses it ({}): \"{}\"; berth continues once the write is allowed",
      cut(std::string(purpose), kMaxPurpose), words_of(error));
}

std::optional<RefusedWrite> refused_write(const Snapshot& snapshot, const ObjectRef& object,
                                          std::string_view field_manager) {
  const Answer* last = nullptr;
  for (const Verb verb : {Verb::kCreate, Verb::kMergePatch, Verb::kJsonPatch, Verb::kDelete}) {
    const Step step = Write{
        .verb = verb, .object = object, .body = {}, .field_manager = std::string(field_manager)};
    const Answer* answer =
        snapshot.answers.find(question(step), snapshot.now, counts_for(snapshot));
    if (answer != nullptr && (last == nullptr || last->at <= answer->at)) last = answer;
  }
  if (last == nullptr || !is_refusal(last->error)) return std::nullopt;  // a success is no refusal
  return told(*last);
}

std::optional<RefusedWrite> refused_write_by(const Snapshot& snapshot,
                                             std::string_view field_manager) {
  std::map<std::string, const Answer*> last;
  for (const auto& [question, answer] : snapshot.answers) {
    if (answer.field_manager != field_manager) continue;
    if (snapshot.now - answer.at > counts_for(snapshot)) continue;
    const Answer*& standing = last[answer.object];
    if (standing == nullptr || standing->at <= answer.at) standing = &answer;
  }
  const auto refused =
      std::ranges::find_if(last, [](const auto& entry) { return is_refusal(entry.second->error); });
  if (refused == last.end()) return std::nullopt;
  return told(*refused->second);
}

}  // namespace berth
