// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/memory.h"

#include <fmt/format.h>

namespace berth::truth {
namespace {

using nlohmann::json;

// For objects that were never seen: well-formed, and matching none.
constexpr char kNoUid[] = "00000000-0000-0000-0000-000000000000";
constexpr char kNoVersion[] = "1";

std::string metadata_text(const json& object, const char* field, const char* otherwise) {
  const auto metadata = object.find("metadata");
  return metadata == object.end() ? otherwise : metadata->value(field, otherwise);
}

}  // namespace

Request Memory::fill(const Operation& operation) const {
  Request out{operation.method, filled(operation.target), operation.content_type,
              filled(operation.body)};
  if (operation.edited.empty()) return out;
  const auto found = seen_.find(operation.edited);
  json object = found == seen_.end() ? json::object() : found->second.last;
  object.merge_patch(json::parse(out.body));
  out.body = object.dump();
  return out;
}

void Memory::take(const Operation& operation, const Answer& answer) {
  if (answer.code < 200 || answer.code > 299 || !answer.body.is_object()) return;
  if (answer.body.value("kind", "") == "Namespace")
    start_ = metadata_text(answer.body, "resourceVersion", kNoVersion);
  if (operation.verb == Verb::kList) {
    continue_ = metadata_text(answer.body, "continue", "");
  } else if (!operation.dry_run) {
    see(operation.plural, answer.body);
  }
}

void Memory::see(const std::string& plural, const json& object) {
  const std::string name = metadata_text(object, "name", "");
  if (name.empty() || object.value("kind", "") == "Status") return;
  const auto [at, is_new] = seen_.try_emplace(plural + "/" + name);
  at->second.last = object;
  if (!is_new) return;
  at->second.first_uid = metadata_text(object, "uid", kNoUid);
  at->second.first_version = metadata_text(object, "resourceVersion", kNoVersion);
}

std::string Memory::filled(const std::string& text) const {
  std::string out;
  std::size_t from = 0;
  for (;;) {
    const std::size_t begin = text.find("${", from);
    if (begin == std::string::npos) return out + text.substr(from);
    const std::size_t end = text.find('}', begin);
    out += text.substr(from, begin - from) + value_of(text.substr(begin + 2, end - begin - 2));
    from = end + 1;
  }
}

std::string Memory::value_of(const std::string& placeholder) const {
  if (placeholder == "start") return start_;
  if (placeholder == "continue") return continue_;
  const std::size_t colon = placeholder.find(':');
  const std::string what = placeholder.substr(0, colon);
  const auto found = seen_.find(placeholder.substr(colon + 1));
  const bool is_uid = what == "uid" || what == "old-uid";
  if (found == seen_.end() && what == "since") return start_;
  if (found == seen_.end()) return is_uid ? kNoUid : kNoVersion;
  const Seen& seen = found->second;
  if (what == "old-uid") return seen.first_uid;
  if (what == "old-rv") return seen.first_version;
  return is_uid ? metadata_text(seen.last, "uid", kNoUid)
                : metadata_text(seen.last, "resourceVersion", kNoVersion);
}

}  // namespace berth::truth
