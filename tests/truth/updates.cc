// SPDX-License-Identifier: Apache-2.0
// PUT of the object and of its status.
#include <nlohmann/json.hpp>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

// One in two has a version or an identity other than the one just seen.
void change_identity(ScriptDraft& draft, const Kind& kind, const std::string& name, Edit& edit) {
  json& metadata = edit.change["metadata"];
  switch (draft.random.below(10)) {
    case 0:
      metadata["resourceVersion"] = ScriptDraft::placeholder("old-rv", kind, name);
      edit.what += ", as of the oldest version";
      break;
    case 1:
    case 2:
      metadata["resourceVersion"] = nullptr;
      edit.what += ", of any version";
      break;
    case 3:
      metadata["uid"] = "22222222-2222-3333-4444-555555555555";
      edit.what += ", with another uid";
      break;
    case 4:
      metadata["name"] = "other";
      edit.what += ", with another name";
      break;
    default:
      break;
  }
  if (metadata.is_null()) edit.change.erase("metadata");
}

void add_put(ScriptDraft& draft, const Kind& kind, Verb verb, Edit edit, const char* subresource) {
  const std::string name = draft.some_name(kind);
  change_identity(draft, kind, name, edit);
  Operation& operation = draft.add(verb, kind, edit.what, "PUT", draft.path(kind, name));
  operation.target +=
      subresource + draft.write_query(operation, draft.objects.any_of({"script", "alice", "bob"}));
  operation.body = edit.change.dump();
  operation.edited = std::string(kind.plural) + "/" + name;
}

}  // namespace

void add_update(ScriptDraft& draft, const Kind& kind) {
  add_put(draft, kind, Verb::kUpdate, draft.objects.some_edit(kind), "");
}

void add_status_update(ScriptDraft& draft, const Kind& kind) {
  const bool of_metadata = kind.has_status && draft.random.one_in(4);
  add_put(draft, kind, Verb::kStatusUpdate,
          of_metadata ? draft.objects.metadata_edit(kind) : draft.objects.status_edit(kind),
          "/status");
}

}  // namespace berth::truth
