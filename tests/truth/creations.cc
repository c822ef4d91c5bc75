// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

using nlohmann::json;

struct Creation {
  std::string what;
  std::string target;
  json object;
  std::optional<std::string> body;  // instead of the object
  bool comes_about = true;          // and can be used later
};

std::string free_name(ScriptDraft& draft, const Kind& kind) {
  const Made& made = draft.made(kind);
  std::string name = draft.new_name(kind);
  while (made.present.contains(name) && made.present.size() < 3 && !draft.random.one_in(4))
    name = draft.new_name(kind);
  return name;
}

// A quota's refusal names the object, even a name that the server has just generated.
bool is_bounded(ScriptDraft& draft, const Kind& kind) {
  return kind.plural == "pods" && !draft.made(kind_of("resourcequotas")).present.empty();
}

// berth's events about nodes and layouts, which have no namespace.
void make_about_node(ScriptDraft& draft, const Kind& kind, Creation& creation) {
  const char* namespace_ = draft.objects.any_of({"default", "default", ""});
  creation.what = "create an event about a node";
  creation.comes_about = false;
  json& object = creation.object;
  object["regarding"] = {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", draft.name() + "-a"}};
  if (*namespace_ == '\0') return;  // the namespace does not exist, so it is refused
  creation.target = collection_path(kind, namespace_);
  object["metadata"]["namespace"] = namespace_;
  object["metadata"]["name"] = draft.name() + "-" + object["metadata"]["name"].get<std::string>();
}

// One in four is wrong or unusual.
void make_unusual(ScriptDraft& draft, const Kind& kind, Creation& creation) {
  json& object = creation.object;
  json& metadata = object["metadata"];
  ObjectWriter& objects = draft.objects;
  const std::uint64_t choice = draft.random.below(24);
  creation.comes_about = choice > 7;
  if (choice == 0) {
    const bool custom = kind.plural == "miglayouts" || kind.plural == "gpuclusterpolicies";
    metadata["name"] = custom ? objects.any_of({"Upper", "under_score", "-dash"})
                              : objects.any_of({"Upper", "under_score", "-dash", ""});
    creation.what = "create with a bad name";
  } else if (choice == 1) {
    object.merge_patch(objects.wrong_edit(kind).change);
    creation.what = "create something wrong";
  } else if (choice == 2 && kind.namespaced) {
    creation.target = collection_path(kind, draft.name() + "-missing");
    metadata["namespace"] = draft.name() + "-missing";
    creation.what = "create in a namespace that is not there";
  } else if (choice == 3 && kind.namespaced) {
    creation.target = collection_path(kind, "default");
    creation.what = "create in another namespace than the path says";
  } else if (choice == 4 && !is_bounded(draft, kind) &&
             !std::exchange(draft.made(kind).generated, true)) {
    // One per kind, sorted after all others: its name decides about its place in lists.
    metadata.erase("name");
    metadata["generateName"] = draft.name() + "-z-";
    creation.what = "create by generateName";
  } else if (choice == 5) {
    metadata["resourceVersion"] = "5";
    creation.what = "create with a version";
  } else if (choice == 6) {
    object["kind"] = kind.plural == "secrets" ? "ConfigMap" : "Secret";
    creation.what = "create another kind";
  } else if (choice == 7) {
    creation.body = objects.any_of({"", "{", "[]", "5"});
    creation.what = "create of what is none";
  } else {
    creation.comes_about = true;
  }
  if (kind.plural == "events" && choice > 20) make_about_node(draft, kind, creation);
}

}  // namespace

void add_create(ScriptDraft& draft, const Kind& kind) {
  const std::string name = free_name(draft, kind);
  Creation creation{"create " + name, draft.path(kind), draft.objects.full(kind, name)};
  make_unusual(draft, kind, creation);
  Operation& operation = draft.add(Verb::kCreate, kind, creation.what, "POST", creation.target);
  operation.target += draft.write_query(operation, draft.objects.any_of({"script", "alice"}));
  operation.body = creation.body.value_or(creation.object.dump());
  if (creation.comes_about && !operation.dry_run) draft.made(kind).present.insert(name);
}

}  // namespace berth::truth
