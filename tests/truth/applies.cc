// SPDX-License-Identifier: Apache-2.0
// Server-side apply of the object and of its status.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

// An apply contains only wanted values: no nulls, and no objects that only held nulls.
json without_nulls(const json& value) {
  if (!value.is_object()) return value;
  json out = json::object();
  for (const auto& [key, entry] : value.items()) {
    json kept = without_nulls(entry);
    const bool emptied = kept.is_object() && kept.empty() && !entry.empty();
    if (!kept.is_null() && !emptied) out[key] = std::move(kept);
  }
  return out;
}

json config_of_what_is(ScriptDraft& draft, const Kind& kind, const std::string& name,
                       bool of_status) {
  ObjectWriter& objects = draft.objects;
  json out = objects.bare(kind, name);
  const Edit edit = of_status ? objects.status_edit(kind) : objects.some_edit(kind);
  out.merge_patch(without_nulls(edit.change));
  if (!of_status && draft.random.one_in(2))
    out.merge_patch(without_nulls(objects.metadata_edit(kind).change));
  return out;
}

std::string add_identity(ScriptDraft& draft, const Kind& kind, const std::string& name,
                         json& config) {
  if (draft.random.one_in(20)) {
    config["metadata"]["uid"] = draft.objects.any_of<std::string>(
        {ScriptDraft::placeholder("uid", kind, name), "55555555-2222-3333-4444-555555555555"});
    return " with a uid";
  }
  if (!draft.random.one_in(30)) return "";
  config["metadata"]["resourceVersion"] = ScriptDraft::placeholder("old-rv", kind, name);
  return " with a version";
}

}  // namespace

void add_apply(ScriptDraft& draft, const Kind& kind) {
  sim::Random& random = draft.random;
  Made& made = draft.made(kind);
  const std::string name = random.one_in(8) ? draft.new_name(kind) : draft.some_name(kind);
  const bool exists = made.present.contains(name) && !made.doubtful.contains(name);
  const bool of_status = kind.has_status && exists && random.one_in(4);
  json config =
      exists ? config_of_what_is(draft, kind, name, of_status) : draft.objects.full(kind, name);
  // Only the kubelet applies a node's status.
  if (kind.plural == "nodes" && !of_status) config.erase("status");
  std::string what = exists ? "apply" : "apply to create";
  what += add_identity(draft, kind, name, config);
  const std::string manager = draft.objects.any_of({"alice", "bob", "berth-policy"});
  const bool force = random.one_in(2);
  Operation& operation = draft.add(
      Verb::kApply, kind, fmt::format("{} as {}{}", what, manager, force ? " by force" : ""),
      "PATCH", draft.path(kind, name) + (of_status ? "/status" : ""));
  operation.target += draft.write_query(operation, manager) + (force ? "&force=true" : "");
  operation.content_type = "application/apply-patch+yaml";
  operation.body = config.dump();
  if (exists || operation.dry_run) return;
  made.present.insert(name);
  // A later apply removes what it leaves out; in these kinds hardly any field can be removed.
  if (kind.plural == "jobs" || kind.plural == "events" || kind.plural == "pods")
    made.doubtful.insert(name);
}

}  // namespace berth::truth
