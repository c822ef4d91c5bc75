// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/script.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

struct VerbWeight {
  void (*add)(ScriptDraft&, const Kind&);
  std::uint64_t weight;
};
// The weights let some 2,000 scripts try each verb on each kind 200 times (truth_main.cc): simple
// verbs less often than those with more ways to be wrong.
constexpr VerbWeight kWeights[] = {
    {add_create, 1},        {add_get, 1},        {add_list, 1},        {add_update, 1},
    {add_status_update, 1}, {add_json_patch, 2}, {add_merge_patch, 1}, {add_status_patch, 1},
    {add_apply, 2},         {add_delete, 1},
};

void add_weighted(ScriptDraft& draft, const Kind& kind) {
  std::uint64_t total = 0;
  for (const VerbWeight& verb : kWeights) total += verb.weight;
  std::uint64_t at = draft.random.below(total);
  const VerbWeight* verb = kWeights;
  for (; at >= verb->weight; ++verb) at -= verb->weight;
  verb->add(draft, kind);
}

void open_namespace(ScriptDraft& draft) {
  const Kind namespaces{"namespaces", "Namespace", "v1", false, true};
  Operation& operation = draft.add(Verb::kCreate, namespaces, "open the namespace", "POST",
                                   "/api/v1/namespaces?fieldManager=script");
  operation.body =
      json({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", draft.name()}}}})
          .dump();
}

bool is_bounded(const std::vector<const Kind*>& cast) {
  return cast.back()->plural == "resourcequotas";
}

bool is_drain(const std::vector<const Kind*>& cast) {
  return cast[0]->plural == "pods" && cast.back()->plural == "poddisruptionbudgets";
}

std::vector<const Kind*> choose_cast(sim::Random& random) {
  if (random.one_in(6)) return {&kind_of("pods"), &kind_of("poddisruptionbudgets")};
  if (random.one_in(12)) return {&kind_of("pods"), &kind_of("resourcequotas")};
  if (random.one_in(16)) return {&kind_of("priorityclasses"), &kind_of("pods")};
  std::vector<const Kind*> out;
  for (std::uint64_t count = 1 + random.below(2); out.size() < count;) {
    const Kind* kind = &kinds()[random.below(kinds().size())];
    if (kind->rare && !random.one_in(5)) continue;
    if (out.empty() || out[0] != kind) out.push_back(kind);
  }
  return out;
}

void add_status(ScriptDraft& draft, const Kind& kind, const std::string& name, const char* manager,
                const json& change) {
  Operation& operation = draft.add(Verb::kStatusPatch, kind, "write a status", "PATCH",
                                   draft.path(kind, name) + "/status?fieldManager=" + manager);
  operation.content_type = "application/merge-patch+json";
  operation.body = change.dump();
}

// Budgets matter to running pods, and their status is what a controller would have written.
void prepare_drain(ScriptDraft& draft, const Kind& pods, const Kind& budgets) {
  const json running = json::parse(
      R"({"status": {"phase": "Running", "conditions":
          [{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}})");
  for (const std::string& name : draft.made(pods).present)
    add_status(draft, pods, name, "kubelet", running);
  for (const std::string& name : draft.made(budgets).present)
    add_status(draft, budgets, name, "kcm", draft.objects.status_edit(budgets).change);
}

// No controller counts here: a quota charges existing pods once its status says so.
void prepare_bounds(ScriptDraft& draft, const Kind& quotas) {
  add_status(draft, quotas, "a", "kcm", draft.objects.status_edit(quotas).change);
}

// The object that marks the end must not be refused.
void lift_bounds(ScriptDraft& draft, const Kind& quotas) {
  add_status(draft, quotas, "a", "kcm", json::parse(R"({"status": {"hard": null, "used": null}})"));
}

void add_one(ScriptDraft& draft, const Kind& kind, bool drains) {
  if (draft.made(kind).present.empty()) return add_create(draft, kind);
  if (kind.plural == "pods" && draft.random.one_in(drains ? 3 : 12))
    return add_eviction(draft, kind);
  add_weighted(draft, kind);
}

}  // namespace

Script write_script(std::uint64_t seed) {
  ScriptDraft draft(seed);
  open_namespace(draft);
  const std::vector<const Kind*> cast = choose_cast(draft.random);
  const std::size_t length = 10 + draft.random.below(31 - 2 * cast.size());
  for (const Kind* kind : cast) add_create(draft, *kind);
  const bool drains = is_drain(cast);
  if (drains) prepare_drain(draft, *cast[0], *cast[1]);
  if (is_bounded(cast)) prepare_bounds(draft, *cast.back());
  while (draft.size() < length) add_one(draft, *cast[draft.random.below(cast.size())], drains);
  if (is_bounded(cast)) lift_bounds(draft, *cast.back());
  for (const Kind* kind : cast) add_watch(draft, *kind);
  return draft.take();
}

}  // namespace berth::truth
