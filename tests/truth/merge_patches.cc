// SPDX-License-Identifier: Apache-2.0
// Merge patches of the object and of its status.
#include <nlohmann/json.hpp>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

// One in three names the object that it is for.
void add_precondition(ScriptDraft& draft, const Kind& kind, const std::string& name, Edit& edit) {
  switch (draft.random.below(12)) {
    case 0:
      edit.change["metadata"]["uid"] = "44444444-2222-3333-4444-555555555555";
      edit.what += ", with another uid";
      break;
    case 1:
      edit.change["metadata"]["uid"] = ScriptDraft::placeholder("uid", kind, name);
      edit.what += ", with its uid";
      break;
    case 2:
      edit.change["metadata"]["resourceVersion"] = ScriptDraft::placeholder("old-rv", kind, name);
      edit.what += ", as of the oldest version";
      break;
    case 3:
      edit.change["metadata"]["resourceVersion"] = ScriptDraft::placeholder("rv", kind, name);
      edit.change["metadata"]["uid"] = ScriptDraft::placeholder("uid", kind, name);
      edit.what += ", as of the version seen last, with its uid";
      break;
    default:
      break;
  }
}

void add_patch(ScriptDraft& draft, const Kind& kind, Verb verb, Edit edit,
               const char* subresource) {
  const std::string name = draft.some_name(kind);
  add_precondition(draft, kind, name, edit);
  Operation& operation = draft.add(verb, kind, edit.what, "PATCH", draft.path(kind, name));
  operation.target +=
      subresource + draft.write_query(operation, draft.objects.any_of({"script", "bob"}));
  operation.content_type = "application/merge-patch+json";
  operation.body = edit.change.dump();
  if (draft.random.one_in(30)) operation.body = draft.objects.any_of({"", "[]", "{", "{}", "5"});
}

}  // namespace

void add_merge_patch(ScriptDraft& draft, const Kind& kind) {
  add_patch(draft, kind, Verb::kMergePatch, draft.objects.some_edit(kind), "");
}

void add_status_patch(ScriptDraft& draft, const Kind& kind) {
  add_patch(draft, kind, Verb::kStatusPatch, draft.objects.status_edit(kind), "/status");
}

}  // namespace berth::truth
