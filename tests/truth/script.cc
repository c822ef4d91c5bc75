// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/script.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "tests/truth/objects.h"

namespace berth::truth {
namespace {

using nlohmann::json;

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kApplyPatch[] = "application/apply-patch+yaml";

// A server-side apply says what should be there: null has no place in it, nor what held nothing
// else.
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

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-_.~").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

class ScriptWriter {
 public:
  explicit ScriptWriter(std::uint64_t seed)
      : random_(seed), objects_(fmt::format("t{}", seed), random_) {
    script_.seed = seed;
    script_.name = fmt::format("t{}", seed);
  }

  Script write() {
    open_namespace();
    const std::vector<const Kind*> cast = choose_cast();
    const std::size_t length = 10 + random_.below(31 - 2 * cast.size());
    for (const Kind* kind : cast) create(*kind);
    drains_ = cast[0]->plural == "pods" && cast.back()->plural == "poddisruptionbudgets";
    if (drains_) prepare_drain(*cast[0], *cast[1]);
    while (script_.operations.size() < length) add_one(*cast[random_.below(cast.size())]);
    for (const Kind* kind : cast) watch(*kind);
    return std::move(script_);
  }

 private:
  struct Objects {
    std::set<std::string> present;
    std::set<std::string> doubtful;  // of these, the ones that may be gone
    bool generated = false;
  };

  void open_namespace();
  std::vector<const Kind*> choose_cast();
  void prepare_drain(const Kind& pods, const Kind& budgets);
  void add_one(const Kind& kind);

  void create(const Kind& kind);
  void get(const Kind& kind);
  void list(const Kind& kind);
  void continue_list(const Kind& kind, const std::string& query);
  void update(const Kind& kind, bool status);
  void json_patch(const Kind& kind);
  json json_patch_step(const Kind& kind, const std::string& name);
  void merge_patch(const Kind& kind, bool status);
  void apply(const Kind& kind);
  void remove(const Kind& kind);
  void evict(const Kind& kind);
  void watch(const Kind& kind);

  std::string new_name(const Kind& kind);
  std::string some_name(const Kind& kind);  // mostly of an object that exists
  std::string path(const Kind& kind, const std::string& name) {
    return collection_path(kind, script_.name) + "/" + name;
  }
  static std::string handle(const Kind& kind, const std::string& name) {
    return fmt::format("{}/{}", kind.plural, name);
  }
  std::string label_selector(const Kind& kind, bool of_watch);
  Edit some_edit(const Kind& kind, bool status);
  Operation& add(Verb verb, const Kind& kind, std::string what, std::string method,
                 std::string target);
  // Query of a write, with the operation's dry run.
  std::string write_query(Operation& operation, const std::string& manager);

  sim::Random random_;
  ObjectWriter objects_;
  Script script_;
  std::map<std::string_view, Objects> world_;
  bool drains_ = false;  // is it about budgets?
};

void ScriptWriter::open_namespace() {
  Operation operation{Verb::kCreate, "namespaces", "open the namespace", "POST",
                      "/api/v1/namespaces?fieldManager=script"};
  operation.body =
      json({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", script_.name}}}})
          .dump();
  script_.operations.push_back(std::move(operation));
}

std::vector<const Kind*> ScriptWriter::choose_cast() {
  if (random_.one_in(6)) return {&kind_of("pods"), &kind_of("poddisruptionbudgets")};
  std::vector<const Kind*> out;
  for (std::uint64_t count = 1 + random_.below(2); out.size() < count;) {
    const Kind* kind = &kinds()[random_.below(kinds().size())];
    if (out.empty() || out[0] != kind) out.push_back(kind);
  }
  return out;
}

// Budgets matter to pods that run, and their status is what a controller would have written.
void ScriptWriter::prepare_drain(const Kind& pods, const Kind& budgets) {
  for (const std::string& name : world_[pods.plural].present) {
    Operation& run = add(Verb::kStatusPatch, pods, "let it run", "PATCH",
                         path(pods, name) + "/status?fieldManager=kubelet");
    run.content_type = kMergePatch;
    run.body =
        R"({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}})";
  }
  for (const std::string& name : world_[budgets.plural].present) {
    Operation& count = add(Verb::kStatusPatch, budgets, "count the pods", "PATCH",
                           path(budgets, name) + "/status?fieldManager=kcm");
    count.content_type = kMergePatch;
    count.body = objects_.status_edit(budgets).change.dump();
  }
}

void ScriptWriter::add_one(const Kind& kind) {
  if (world_[kind.plural].present.empty()) return create(kind);
  if (drains_ && kind.plural == "pods" && random_.one_in(3)) return evict(kind);
  switch (random_.below(12)) {
    case 0:
      return create(kind);
    case 1:
      return get(kind);
    case 2:
      return list(kind);
    case 3:
      return update(kind, false);
    case 4:
      return update(kind, true);
    case 5:
    case 6:
      return json_patch(kind);
    case 7:
      return merge_patch(kind, false);
    case 8:
      return merge_patch(kind, true);
    case 9:
      return remove(kind);
    case 10:
      if (kind.plural == "pods") return evict(kind);
      [[fallthrough]];
    default:
      return apply(kind);
  }
}

Operation& ScriptWriter::add(Verb verb, const Kind& kind, std::string what, std::string method,
                             std::string target) {
  script_.operations.push_back(
      {verb, std::string(kind.plural), std::move(what), std::move(method), std::move(target)});
  return script_.operations.back();
}

std::string ScriptWriter::write_query(Operation& operation, const std::string& manager) {
  operation.dry_run = random_.one_in(8);
  return fmt::format("?fieldManager={}{}", manager, operation.dry_run ? "&dryRun=All" : "");
}

std::string ScriptWriter::new_name(const Kind& kind) {
  std::string name = objects_.any_of({"a", "b", "c"});
  return kind.namespaced ? name : script_.name + "-" + name;
}

std::string ScriptWriter::some_name(const Kind& kind) {
  const std::set<std::string>& present = world_[kind.plural].present;
  if (present.empty() || random_.one_in(12)) return new_name(kind);
  return *std::next(present.begin(), static_cast<long>(random_.below(present.size())));
}

void ScriptWriter::create(const Kind& kind) {
  Objects& objects = world_[kind.plural];
  std::string name = new_name(kind);
  while (objects.present.count(name) != 0 && objects.present.size() < 3 && !random_.one_in(4))
    name = new_name(kind);
  json object = objects_.full(kind, name);
  std::string what = "create " + name;
  std::string target = collection_path(kind, script_.name);
  bool comes_about = true;
  const std::uint64_t choice = random_.below(24);
  if (choice == 0) {
    object["metadata"]["name"] = kind.plural == "miglayouts"
                                     ? objects_.any_of({"Upper", "under_score", "-dash"})
                                     : objects_.any_of({"Upper", "under_score", "-dash", ""});
    what = "create with a bad name";
    comes_about = false;
  } else if (choice == 1) {
    object.merge_patch(objects_.wrong_edit(kind).change);
    what = "create something wrong";
    comes_about = false;
  } else if (choice == 2 && kind.namespaced) {
    target = collection_path(kind, script_.name + "-missing");
    object["metadata"]["namespace"] = script_.name + "-missing";
    what = "create in a namespace that is not there";
    comes_about = false;
  } else if (choice == 3 && kind.namespaced) {
    target = collection_path(kind, "default");
    what = "create in another namespace than the path says";
    comes_about = false;
  } else if (choice == 4 && !std::exchange(objects.generated, true)) {
    // One of a kind, behind all others: its name decides where in a list it stands.
    object["metadata"].erase("name");
    object["metadata"]["generateName"] = script_.name + "-z-";
    what = "create by generateName";
    comes_about = false;
  } else if (choice == 5) {
    object["metadata"]["resourceVersion"] = "5";
    what = "create with a version";
    comes_about = false;
  } else if (choice == 6) {
    object["kind"] = "Secret";
    what = "create another kind";
    comes_about = false;
  }
  Operation& operation = add(Verb::kCreate, kind, what, "POST", target);
  operation.target += write_query(operation, objects_.any_of({"script", "alice"}));
  operation.body = object.dump();
  if (choice == 7) operation.body = objects_.any_of({"", "{", "[]", "5"});
  if (comes_about && choice != 7 && !operation.dry_run) objects.present.insert(name);
}

void ScriptWriter::get(const Kind& kind) {
  add(Verb::kGet, kind, "get", "GET", path(kind, some_name(kind)));
}

std::string ScriptWriter::label_selector(const Kind& kind, bool of_watch) {
  std::string selector;
  if (random_.one_in(of_watch ? 3 : 2))
    selector = of_watch
                   ? objects_.any_of({"a=x", "b", "a in (x,y)", "b=x,a"})
                   : objects_.any_of({"a=x", "a!=x", "c", "!c", "a in (x,y)", "a notin (x)",
                                      "a==y,b=x", "c notin (x),b", "a in x", "=x", "a=no way"});
  if (kind.namespaced) return selector;
  return "script=" + script_.name + (selector.empty() ? "" : "," + selector);
}

void ScriptWriter::list(const Kind& kind) {
  std::string query;
  const auto with = [&query](const std::string& key, const std::string& value) {
    if (!value.empty()) query += (query.empty() ? "?" : "&") + key + "=" + escaped(value);
  };
  with("labelSelector", label_selector(kind, false));
  if (random_.one_in(3)) {
    std::string field = "metadata.name=" + new_name(kind);
    if (kind.plural == "pods" && random_.one_in(2))
      field = objects_.any_of({"spec.nodeName=machine", "spec.nodeName=", "status.phase=Running",
                               "status.phase!=Pending,spec.nodeName=machine"});
    if (kind.plural == "nodes" && random_.one_in(2)) field = "spec.unschedulable=true";
    if (random_.one_in(8)) field = "spec.nothing=x";
    with("fieldSelector", field);
  }
  const bool pages = random_.one_in(3);
  const std::string selectors = query;
  if (pages) with("limit", objects_.any_of({"1", "2"}));
  if (random_.one_in(10)) {
    query += (query.empty() ? "?" : "&") + std::string("resourceVersion=${start}");
    if (random_.one_in(2)) with("resourceVersionMatch", "NotOlderThan");
  } else if (random_.one_in(12)) {
    with("resourceVersionMatch", objects_.any_of({"Exact", "NotOlderThan"}));
  }
  add(Verb::kList, kind, "list " + query, "GET", collection_path(kind, script_.name) + query);
  if (!pages) return;
  if (random_.one_in(3)) merge_patch(kind, false);  // a later page is as old as the first
  continue_list(kind, selectors);
}

void ScriptWriter::continue_list(const Kind& kind, const std::string& query) {
  add(Verb::kList, kind, "go on listing", "GET",
      collection_path(kind, script_.name) + query + (query.empty() ? "?" : "&") +
          (random_.one_in(15) ? "limit=5&continue=none" : "limit=5&continue=${continue}"));
}

Edit ScriptWriter::some_edit(const Kind& kind, bool status) {
  if (status) return objects_.status_edit(kind);
  return random_.one_in(8) ? objects_.wrong_edit(kind) : objects_.edit(kind);
}

void ScriptWriter::update(const Kind& kind, bool status) {
  const std::string name = some_name(kind);
  Edit edit = status && kind.has_status && random_.one_in(4) ? objects_.metadata_edit(kind)
                                                             : some_edit(kind, status);
  json& metadata = edit.change["metadata"];
  switch (random_.below(10)) {
    case 0:
      metadata["resourceVersion"] = fmt::format("${{old-rv:{}}}", handle(kind, name));
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
  Operation& operation = add(status ? Verb::kStatusUpdate : Verb::kUpdate, kind, edit.what, "PUT",
                             path(kind, name) + (status ? "/status" : ""));
  operation.target += write_query(operation, objects_.any_of({"script", "alice", "bob"}));
  operation.body = edit.change.dump();
  operation.edited = handle(kind, name);
}

json ScriptWriter::json_patch_step(const Kind& kind, const std::string& name) {
  const std::string of = handle(kind, name);
  const auto step = [](const char* op, const char* at, json value) {
    return json{{"op", op}, {"path", at}, {"value", std::move(value)}};
  };
  switch (random_.below(kind.plural == "nodes" ? 18 : 14)) {
    case 0:
      return step("test", "/metadata/uid", "${uid:" + of + "}");
    case 1:
      return step("test", "/metadata/uid", "33333333-2222-3333-4444-555555555555");
    case 2:
      return step("test", "/metadata/resourceVersion", "${rv:" + of + "}");
    case 3:
      return step("test", "/metadata/resourceVersion", "${old-rv:" + of + "}");
    case 4:
      return step("test", "/metadata/labels/c", nullptr);
    case 5:
      return step("test", "/metadata/annotations/gpu.berth.dev~1state", nullptr);
    case 6:
      return step("test", "/metadata/labels/a", objects_.any_of({"x", "y"}));
    case 7:
      return step("add", "/metadata/labels/c", objects_.any_of({"x", "y"}));
    case 8:
      return step("replace", "/metadata/labels/a", objects_.any_of({"x", "y"}));
    case 9:
      return {{"op", "remove"},
              {"path", objects_.any_of({"/metadata/labels/b", "/metadata/labels/c"})}};
    case 10:
      return step("add", "/metadata/annotations", {{"note", "two"}});
    case 11:
      return step("add", "/metadata/annotations/gpu.berth.dev~1state", "draining");
    case 12:
      return step("add", "/metadata/finalizers", json::array({"test.berth.dev/hold"}));
    case 13:
      return step("replace", "/metadata/resourceVersion", "${old-rv:" + of + "}");
    case 14:
      return step("add", "/spec/taints/-",
                  {{"key", objects_.any_of({"t", "u"})}, {"effect", "NoSchedule"}});
    case 15:
      return step("test", "/spec/unschedulable", objects_.any_of<json>({true, nullptr}));
    case 16:
      return step("add", "/spec/unschedulable", true);
    default:
      return step("add", "/spec/taints",
                  json::array({{{"key", "t"}, {"value", "v"}, {"effect", "NoSchedule"}}}));
  }
}

void ScriptWriter::json_patch(const Kind& kind) {
  const std::string name = some_name(kind);
  json patch = json::array();
  for (std::uint64_t steps = 1 + random_.below(3); patch.size() < steps;)
    patch.push_back(json_patch_step(kind, name));
  std::string what = "patch";
  for (const json& step : patch)
    what += fmt::format(" {} {}", step["op"].get<std::string>(), step["path"].get<std::string>());
  Operation& operation = add(Verb::kJsonPatch, kind, what, "PATCH", path(kind, name));
  operation.target += write_query(operation, objects_.any_of({"script", "alice"}));
  operation.content_type = kJsonPatch;
  operation.body = patch.dump();
  if (random_.one_in(30))
    operation.body = objects_.any_of({"", "{}", "[", R"([{"op": "fly", "path": "/metadata"}])",
                                      "[]", R"([{"op": "add", "path": "metadata", "value": 1}])"});
}

void ScriptWriter::merge_patch(const Kind& kind, bool status) {
  const std::string name = some_name(kind);
  Edit edit = some_edit(kind, status);
  switch (random_.below(12)) {
    case 0:
      edit.change["metadata"]["uid"] = "44444444-2222-3333-4444-555555555555";
      edit.what += ", with another uid";
      break;
    case 1:
      edit.change["metadata"]["uid"] = fmt::format("${{uid:{}}}", handle(kind, name));
      edit.what += ", with its uid";
      break;
    case 2:
      edit.change["metadata"]["resourceVersion"] =
          fmt::format("${{old-rv:{}}}", handle(kind, name));
      edit.what += ", as of the oldest version";
      break;
    case 3:
      edit.change["metadata"]["resourceVersion"] = fmt::format("${{rv:{}}}", handle(kind, name));
      edit.what += ", as of the version seen last";
      break;
    default:
      break;
  }
  Operation& operation = add(status ? Verb::kStatusPatch : Verb::kMergePatch, kind, edit.what,
                             "PATCH", path(kind, name) + (status ? "/status" : ""));
  operation.target += write_query(operation, objects_.any_of({"script", "bob"}));
  operation.content_type = kMergePatch;
  operation.body = edit.change.dump();
  if (random_.one_in(30)) operation.body = objects_.any_of({"", "[]", "{", "{}", "5"});
}

void ScriptWriter::apply(const Kind& kind) {
  Objects& objects = world_[kind.plural];
  const std::string name = random_.one_in(8) ? new_name(kind) : some_name(kind);
  const bool exists = objects.present.count(name) != 0 && objects.doubtful.count(name) == 0;
  const bool status = kind.has_status && exists && random_.one_in(4);
  json object = exists ? objects_.bare(kind, name) : objects_.full(kind, name);
  if (kind.plural == "nodes") object.erase("status");  // its appliers leave that to the kubelet
  std::string what = exists ? "apply" : "apply to create";
  if (exists) {
    object.merge_patch(without_nulls(some_edit(kind, status).change));
    if (!status && random_.one_in(2))
      object.merge_patch(without_nulls(objects_.metadata_edit(kind).change));
  }
  if (random_.one_in(20)) {
    object["metadata"]["uid"] = objects_.any_of<std::string>(
        {fmt::format("${{uid:{}}}", handle(kind, name)), "55555555-2222-3333-4444-555555555555"});
    what += " with a uid";
  } else if (random_.one_in(30)) {
    object["metadata"]["resourceVersion"] = fmt::format("${{old-rv:{}}}", handle(kind, name));
    what += " with a version";
  }
  const std::string manager = objects_.any_of({"alice", "bob", "berth"});
  const bool force = random_.one_in(2);
  Operation& operation =
      add(Verb::kApply, kind, fmt::format("{} as {}{}", what, manager, force ? " by force" : ""),
          "PATCH", path(kind, name) + (status ? "/status" : ""));
  operation.target += write_query(operation, manager) + (force ? "&force=true" : "");
  operation.content_type = kApplyPatch;
  operation.body = object.dump();
  if (exists || operation.dry_run) return;
  objects.present.insert(name);
  // What its applier leaves out next time goes: of these kinds hardly a field can.
  if (kind.plural == "jobs" || kind.plural == "events" || kind.plural == "pods")
    objects.doubtful.insert(name);
}

void ScriptWriter::remove(const Kind& kind) {
  Objects& objects = world_[kind.plural];
  const std::string name = some_name(kind);
  json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  std::string what = "delete";
  bool works = true;
  const std::uint64_t choice = random_.below(8);
  if (choice == 0) {
    options["preconditions"]["uid"] = "66666666-2222-3333-4444-555555555555";
    what += ", another uid";
    works = false;
  } else if (choice == 1) {
    options["preconditions"]["uid"] = fmt::format("${{uid:{}}}", handle(kind, name));
    what += ", its uid";
  } else if (choice == 2) {
    options["preconditions"]["resourceVersion"] = fmt::format("${{old-rv:{}}}", handle(kind, name));
    what += ", the oldest version";
  } else if (choice == 3) {
    options["preconditions"]["resourceVersion"] = fmt::format("${{rv:{}}}", handle(kind, name));
    what += ", the version seen last";
  }
  if (choice != 3 && random_.one_in(2))
    options["propagationPolicy"] =
        objects_.any_of({"Background", "Background", "Foreground", "Orphan"});
  if (kind.plural == "pods" && random_.one_in(2))
    options["gracePeriodSeconds"] = objects_.any_of({0, 20, 60});
  Operation& operation = add(Verb::kDelete, kind, what, "DELETE", path(kind, name));
  operation.dry_run = random_.one_in(6);
  if (operation.dry_run) {
    options["dryRun"] = json::array({"All"});
    options.erase("propagationPolicy");
  }
  operation.body = options.dump();
  if (random_.one_in(12)) {
    operation.body.clear();
    operation.dry_run = false;
  }
  if (!works || operation.dry_run) return;
  objects.doubtful.insert(name);
  if (random_.one_in(2)) objects.present.erase(name);
}

void ScriptWriter::evict(const Kind& kind) {
  const std::string name = some_name(kind);
  json eviction = {{"apiVersion", "policy/v1"},
                   {"kind", "Eviction"},
                   {"metadata", {{"name", name}, {"namespace", script_.name}}}};
  std::string what = "evict";
  const std::uint64_t choice = random_.below(8);
  if (choice == 0) {
    eviction["deleteOptions"]["preconditions"]["uid"] = "77777777-2222-3333-4444-555555555555";
    what += ", another uid";
  } else if (choice == 1) {
    eviction["deleteOptions"]["preconditions"]["uid"] =
        fmt::format("${{uid:{}}}", handle(kind, name));
    what += ", its uid";
  } else if (choice == 2) {
    eviction["deleteOptions"]["gracePeriodSeconds"] = 20;
  }
  world_[kind.plural].doubtful.insert(name);
  Operation& operation = add(Verb::kEvict, kind, what, "POST", path(kind, name) + "/eviction");
  operation.dry_run = random_.one_in(4);
  if (operation.dry_run) {
    eviction["deleteOptions"]["dryRun"] = json::array({"All"});
    operation.target += "?dryRun=All";
  }
  operation.body = eviction.dump();
}

// The last object of the script marks the end of what a watch is to replay.
void ScriptWriter::watch(const Kind& kind) {
  const std::string last = kind.namespaced ? "end" : script_.name + "-end";
  json object = objects_.full(kind, last);
  object["metadata"].erase("finalizers");
  object["metadata"]["labels"]["a"] = "x";
  Operation& marker = add(Verb::kCreate, kind, "mark the end", "POST",
                          collection_path(kind, script_.name) + "?fieldManager=script");
  marker.body = object.dump();
  std::string query = "?watch=1&timeoutSeconds=10&resourceVersion=${start}";
  const std::string selector = label_selector(kind, true);
  if (!selector.empty()) query += "&labelSelector=" + escaped(selector);
  if (kind.plural == "pods" && random_.one_in(3)) query += "&fieldSelector=status.phase%3DPending";
  add(Verb::kWatch, kind, "watch from the start", "GET",
      collection_path(kind, script_.name) + query);
}

}  // namespace

Script write_script(std::uint64_t seed) { return ScriptWriter(seed).write(); }

}  // namespace berth::truth
