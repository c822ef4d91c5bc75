// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "controller/core/json_patch.h"
#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

json step(const char* op, const char* at, json value) {
  return {{"op", op}, {"path", at}, {"value", std::move(value)}};
}

// Characters that Go escapes and nlohmann::json does not, and a few that both write alike.
constexpr std::initializer_list<const char*> kNotes = {"a<b", "R&D", "\u2028>\u2029",
                                                       "\b\x7f\xc3\xbc\""};

// The texts in berth's own patches have this form. Outside of texts, JSON has none of these
// characters.
std::string escaped_as_go(std::string text) {
  for (const char* character : {"<", ">", "&", "\u2028", "\u2029"}) {
    const std::string quoted = quote_json(character);
    boost::algorithm::replace_all(text, character, quoted.substr(1, quoted.size() - 2));
  }
  return text;
}

json some_test(ScriptDraft& draft, const Kind& kind, const std::string& name) {
  switch (draft.random.below(8)) {
    case 0:
      return step("test", "/metadata/uid", ScriptDraft::placeholder("uid", kind, name));
    case 1:
      return step("test", "/metadata/uid", "33333333-2222-3333-4444-555555555555");
    case 2:
      return step("test", "/metadata/resourceVersion", ScriptDraft::placeholder("rv", kind, name));
    case 3:
      return step("test", "/metadata/resourceVersion",
                  ScriptDraft::placeholder("old-rv", kind, name));
    case 4:
      return step("test", "/metadata/labels/c", nullptr);
    case 5:
      return step("test", "/metadata/annotations/gpu.berth.dev~1state", nullptr);
    case 6:
      return step("test", "/metadata/annotations/note", draft.objects.any_of(kNotes));
    default:
      return step("test", "/metadata/labels/a", draft.objects.any_of({"x", "y"}));
  }
}

json some_change(ScriptDraft& draft, const Kind& kind, const std::string& name) {
  ObjectWriter& objects = draft.objects;
  switch (draft.random.below(8)) {
    case 0:
      return step("add", "/metadata/labels/c", objects.any_of({"x", "y"}));
    case 1:
      return step("replace", "/metadata/labels/a", objects.any_of({"x", "y"}));
    case 2:
      return {{"op", "remove"},
              {"path", objects.any_of({"/metadata/labels/b", "/metadata/labels/c"})}};
    case 3:
      return step("add", "/metadata/annotations", {{"note", "two"}});
    case 6:
      return step("add", "/metadata/annotations", {{"note", objects.any_of(kNotes)}});
    case 4:
      return step("add", "/metadata/annotations/gpu.berth.dev~1state", "draining");
    case 5:
      return step("add", "/metadata/finalizers", json::array({"test.berth.dev/hold"}));
    default:
      return step("replace", "/metadata/resourceVersion",
                  ScriptDraft::placeholder("old-rv", kind, name));
  }
}

json some_node_step(ScriptDraft& draft) {
  switch (draft.random.below(7)) {
    case 4:  // a taint by its index, as in berth's patches for pools
      return step("test", "/spec/taints/0/key", draft.objects.any_of({"t", "own"}));
    case 5:
      return step("replace", "/spec/taints/0",
                  {{"key", "pool"}, {"value", "lab"}, {"effect", "NoSchedule"}});
    case 6:
      return {{"op", "remove"},
              {"path", draft.objects.any_of({"/spec/taints/0", "/spec/taints/1"})}};
    case 0:
      return step("add", "/spec/taints/-",
                  {{"key", draft.objects.any_of({"t", "u"})}, {"effect", "NoSchedule"}});
    case 1:
      return step("test", "/spec/unschedulable", draft.objects.any_of<json>({true, nullptr}));
    case 2:
      return step("add", "/spec/unschedulable", true);
    default:
      return step("add", "/spec/taints",
                  json::array({{{"key", "t"}, {"value", "v"}, {"effect", "NoSchedule"}}}));
  }
}

// Like berth's release of a pod: its gate by index, with pool and nodes added.
json some_pod_step(ScriptDraft& draft) {
  constexpr char kTerm[] =
      "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
      "nodeSelectorTerms/0";
  ObjectWriter& objects = draft.objects;
  const json node = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {"machine"}}};
  switch (draft.random.below(8)) {
    case 0:
      return step("test",
                  objects.any_of({"/spec/schedulingGates/0/name", "/spec/schedulingGates/1/name"}),
                  "gpu.berth.dev/queue");
    case 1:
    case 2:
      return {{"op", "remove"},
              {"path", objects.any_of({"/spec/schedulingGates/0", "/spec/schedulingGates/1",
                                       "/spec/schedulingGates"})}};
    case 3:
      return step("add", "/spec/nodeSelector", {{"gpu.berth.dev/pool", "p"}});
    case 4:
      return step("add", "/spec/nodeSelector/gpu.berth.dev~1pool", "p");
    case 5:
      return step("add", "/spec/schedulingGates/-", {{"name", "example.com/new"}});
    case 6:
      return step("add", (std::string(kTerm) + "/matchFields").c_str(), json::array({node}));
    default:
      return step("add", (std::string(kTerm) + "/matchExpressions/-").c_str(),
                  {{"key", "zone"}, {"operator", "Exists"}});
  }
}

json some_job_step(ScriptDraft& draft) {
  switch (draft.random.below(5)) {
    case 0:
      return step("test", "/spec/suspend", draft.objects.any_of({true, false}));
    case 1:
      return step("replace", "/spec/suspend", draft.objects.any_of({true, false}));
    case 2:
      return step("add", "/spec/template/spec/nodeSelector", {{"gpu.berth.dev/pool", "p"}});
    case 3:
      return {{"op", "remove"}, {"path", "/spec/template/spec/nodeSelector"}};
    default:
      return step("add", "/spec/template/metadata/annotations",
                  {{"gpu.berth.dev/admitted", draft.objects.any_of({"{}", "{\"epoch\":1}"})}});
  }
}

json some_step(ScriptDraft& draft, const Kind& kind, const std::string& name) {
  if (kind.plural == "nodes" && draft.random.below(9) < 2) return some_node_step(draft);
  if (kind.plural == "pods" && draft.random.one_in(3)) return some_pod_step(draft);
  if (kind.plural == "jobs" && draft.random.one_in(3)) return some_job_step(draft);
  return draft.random.one_in(2) ? some_test(draft, kind, name) : some_change(draft, kind, name);
}

}  // namespace

void add_json_patch(ScriptDraft& draft, const Kind& kind) {
  const std::string name = draft.some_name(kind);
  json patch = json::array();
  for (std::uint64_t steps = 1 + draft.random.below(3); patch.size() < steps;)
    patch.push_back(some_step(draft, kind, name));
  std::string what = "patch";
  for (const json& one : patch)
    what += fmt::format(" {} {}", one["op"].get<std::string>(), one["path"].get<std::string>());
  Operation& operation = draft.add(Verb::kJsonPatch, kind, what, "PATCH", draft.path(kind, name));
  operation.target += draft.write_query(operation, draft.objects.any_of({"script", "alice"}));
  operation.content_type = "application/json-patch+json";
  operation.body = draft.random.one_in(2) ? patch.dump() : escaped_as_go(patch.dump());
  if (draft.random.one_in(30))
    operation.body =
        draft.objects.any_of({"", "{}", "[", R"([{"op": "fly", "path": "/metadata"}])", "[]",
                              R"([{"op": "add", "path": "metadata", "value": 1}])"});
}

}  // namespace berth::truth
