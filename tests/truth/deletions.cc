// SPDX-License-Identifier: Apache-2.0
// Deletions and evictions.
#include <nlohmann/json.hpp>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

// A precondition on the object; its text for users, and one in eight each.
struct Precondition {
  const char* what;
  const char* field;
  const char* value;  // a placeholder's name, or the value itself
};
constexpr Precondition kPreconditions[] = {
    {", another uid", "uid", "66666666-2222-3333-4444-555555555555"},
    {", its uid", "uid", "uid"},
    {", the oldest version", "resourceVersion", "old-rv"},
    {", the version seen last", "resourceVersion", "rv"},
};

// Returns the precondition; null: none.
const Precondition* add_precondition(ScriptDraft& draft, const Kind& kind, const std::string& name,
                                     json& options) {
  const std::uint64_t choice = draft.random.below(8);
  if (choice >= std::size(kPreconditions)) return nullptr;
  const Precondition& out = kPreconditions[choice];
  options["preconditions"][out.field] =
      choice == 0 ? std::string(out.value) : ScriptDraft::placeholder(out.value, kind, name);
  return &out;
}

}  // namespace

void add_delete(ScriptDraft& draft, const Kind& kind) {
  sim::Random& random = draft.random;
  Made& made = draft.made(kind);
  const std::string name = draft.some_name(kind);
  json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  const Precondition* asked = add_precondition(draft, kind, name, options);
  const bool of_version = asked != nullptr && asked->field == std::string("resourceVersion");
  if (!of_version && random.one_in(2))
    options["propagationPolicy"] =
        draft.objects.any_of({"Background", "Background", "Foreground", "Orphan"});
  if (kind.plural == "pods" && random.one_in(2))
    options["gracePeriodSeconds"] = draft.objects.any_of({0, 20, 60});
  Operation& operation =
      draft.add(Verb::kDelete, kind, std::string("delete") + (asked == nullptr ? "" : asked->what),
                "DELETE", draft.path(kind, name));
  operation.dry_run = random.one_in(6);
  if (operation.dry_run) {
    options["dryRun"] = json::array({"All"});
    options.erase("propagationPolicy");
  }
  operation.body = options.dump();
  if (random.one_in(12)) {
    operation.body.clear();
    operation.dry_run = false;
  }
  if (operation.dry_run || asked == &kPreconditions[0]) return;
  made.doubtful.insert(name);
  if (random.one_in(2)) made.present.erase(name);
}

void add_eviction(ScriptDraft& draft, const Kind& pods) {
  const std::string name = draft.some_name(pods);
  json options = json::object();
  const Precondition* asked = add_precondition(draft, pods, name, options);
  if (asked == nullptr && draft.random.one_in(4)) options["gracePeriodSeconds"] = 20;
  draft.made(pods).doubtful.insert(name);
  Operation& operation =
      draft.add(Verb::kEvict, pods, std::string("evict") + (asked == nullptr ? "" : asked->what),
                "POST", draft.path(pods, name) + "/eviction");
  operation.dry_run = draft.random.one_in(4);
  if (operation.dry_run) {
    options["dryRun"] = json::array({"All"});
    operation.target += "?dryRun=All";
  }
  json eviction = {{"apiVersion", "policy/v1"},
                   {"kind", "Eviction"},
                   {"metadata", {{"name", name}, {"namespace", draft.name()}}}};
  if (!options.empty()) eviction["deleteOptions"] = std::move(options);
  operation.body = eviction.dump();
}

}  // namespace berth::truth
