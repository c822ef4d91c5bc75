// SPDX-License-Identifier: Apache-2.0
#include "controller/history/history_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace berth {
namespace {

struct KindNames {
  std::string_view kind;
  bool namespaced;
  std::array<std::string_view, 4> names;
};
constexpr std::array<KindNames, 6> kKinds = {{
    {"Node", false, {"node", "nodes", "no", "no"}},
    {"Job", true, {"job", "jobs", "job.batch", "jobs.batch"}},
    {"Pod", true, {"pod", "pods", "po", "po"}},
    {"MIGLayout", false, {"miglayout", "miglayouts", "migl", "migl"}},
    {"GPUQueue", false, {"gpuqueue", "gpuqueues", "gpuq", "queue"}},
    {"GPUClusterPolicy", false, {"gpuclusterpolicy", "gpuclusterpolicies", "gpupolicy", "policy"}},
}};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// Whether the text contains `words`, and a name there does not go on after them.
bool mentions(std::string_view text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == text.npos) return false;
  const std::size_t end = at + words.size();
  return end == text.size() || !is_part_of_name(text[end]);
}

struct Parts {
  std::string_view kind, namespace_, name;
};
Parts parts_of(std::string_view object) {
  Parts parts;
  const std::size_t first = std::min(object.find('/'), object.size());
  const std::size_t last = object.rfind('/');
  parts.kind = object.substr(0, first);
  parts.name = last == object.npos ? object : object.substr(last + 1);
  if (last != object.npos && last > first)
    parts.namespace_ = object.substr(first + 1, last - first - 1);
  return parts;
}

}  // namespace

Result<HistoryQuery> parse_history_query(const std::vector<std::string>& words,
                                         std::string_view namespace_) {
  HistoryQuery query{.kind = {}, .namespace_ = std::string(namespace_), .name = {}};
  if (words.empty()) return query;
  const std::string text = words.size() == 1 ? words[0] : words[0] + "/" + words[1];
  const std::size_t slash = text.find('/');
  const std::string kind = lower(text.substr(0, slash));
  const auto* known = std::ranges::find_if(kKinds, [&](const KindNames& one) {
    return std::ranges::find(one.names, kind) != one.names.end();
  });
  if (words.size() > 2 || slash == text.npos || slash + 1 == text.size() || known == kKinds.end())
    return invalid_spec("SUBJECT", fmt::format("is {}; write KIND/NAME, with KIND node, job, pod, "
                                               "miglayout, gpuqueue or gpuclusterpolicy",
                                               fmt::format("\"{}\"", text)));
  const Parts parts = parts_of(text);
  query.kind = known->kind;
  query.name = parts.name;
  if (!parts.namespace_.empty()) query.namespace_ = parts.namespace_;
  if (!known->namespaced) query.namespace_.clear();
  return query;
}

bool matches(const HistoryQuery& query, const HistoryLine& line) {
  if (line.at < query.since) return false;
  const Parts parts = parts_of(line.object);
  if (!query.namespace_.empty() && parts.namespace_ != query.namespace_) return false;
  if (query.kind.empty()) return true;
  if (parts.kind == query.kind && parts.name == query.name) return true;
  if (query.kind == "Node")
    return (parts.kind == "Pod" || parts.kind == "Job") &&
           mentions(line.reason, "node " + query.name);
  if (query.kind == "Job") return parts.kind == "Pod" && parts.name.starts_with(query.name + "-");
  return mentions(line.cause, query.kind + "/" + query.name);
}

}  // namespace berth
