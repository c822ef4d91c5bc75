// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/api_server.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "apis/codec/parse_json.h"
#include "controller/sim/server/discovery.h"
#include "controller/sim/server/listing.h"
#include "controller/sim/server/patch.h"
#include "controller/sim/server/priority_admission.h"
#include "controller/sim/server/selectors.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/target.h"
#include "controller/sim/server/watch.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

ApiReply reply_of(const Refusal& refusal) {
  ApiReply reply{refusal.code, to_text(refusal.status()), {}};
  if (refusal.retry_after_s > 0)
    reply.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after_s));
  return reply;
}

std::string media_type(const std::string& content_type) {
  return content_type.substr(0, content_type.find(';'));
}

// The verb of a request that writes; nullopt if the path does not allow the method.
std::optional<WriteVerb> verb_of(const ApiCall& call, const Target& target) {
  const bool object = !target.name.empty();
  const std::string& sub = target.subresource;
  if (call.method == "POST") {
    if (!object && sub.empty()) return WriteVerb::kCreate;
    if (sub == "eviction" && target.type->kind == "Pod") return WriteVerb::kEvict;
    return std::nullopt;
  }
  if (!object || (!sub.empty() && sub != "status")) return std::nullopt;
  if (call.method == "PUT") return WriteVerb::kUpdate;
  if (call.method == "DELETE" && sub.empty()) return WriteVerb::kDelete;
  if (call.method != "PATCH") return std::nullopt;
  const std::string type = media_type(call.content_type);
  if (type == "application/json-patch+json") return WriteVerb::kJsonPatch;
  if (type == "application/merge-patch+json") return WriteVerb::kMergePatch;
  if (type == "application/apply-patch+yaml") return WriteVerb::kApply;
  throw unsupported_media_type();
}

ObjectPtr parse_body(const ApiCall& call, WriteVerb verb) {
  if (call.body.empty() && verb == WriteVerb::kDelete) return nullptr;
  json body = parse_json(call.body);
  // The server parses a patch only after it has found the object.
  const bool patch = verb == WriteVerb::kJsonPatch || verb == WriteVerb::kMergePatch;
  if (body.is_discarded() && !patch)
    throw bad_request("the object provided is unrecognized: the body is not JSON");
  return std::make_shared<const json>(std::move(body));
}

// The options of a DELETE come from its body or from its query, never from both.
void read_delete_query(const Target& target, WriteRequest& request) {
  json options = json::object();
  if (const auto grace = parse_revision(target.option("gracePeriodSeconds")))
    options["gracePeriodSeconds"] = *grace;
  if (const std::string policy = target.option("propagationPolicy"); !policy.empty())
    options["propagationPolicy"] = policy;
  if (target.option("dryRun") == "All") options["dryRun"] = {"All"};
  request.body = std::make_shared<const json>(std::move(options));
}

// A newly stored object has already been written as text for its watchers.
std::string text_of(const Store& store, const ObjectPtr& object) {
  const std::vector<const Change*> last = store.since(store.revision() - 1);
  if (last.empty() || last[0]->after != object || last[0]->written_object().empty())
    return to_text(*object);
  return std::string(last[0]->written_object());
}

WriteRequest read_write(const ApiCall& call, const Target& target) {
  const std::optional<WriteVerb> verb = verb_of(call, target);
  if (!verb) throw method_not_allowed();
  WriteRequest request{.verb = *verb};
  request.key = {target.type, target.namespace_, target.name};
  request.subresource = *verb == WriteVerb::kEvict ? "" : target.subresource;
  request.body = parse_body(call, *verb);
  request.escaped_as_go = !has_what_go_escapes(call.body);
  request.field_manager = target.option("fieldManager");
  request.force = target.flag("force");
  request.user = call.user;
  request.dry_run = *verb != WriteVerb::kDelete && target.option("dryRun") == "All";
  if (*verb == WriteVerb::kDelete && request.body == nullptr) read_delete_query(target, request);
  return request;
}

WriteReply run(Writing& writing, const WriteRequest& request) {
  switch (request.verb) {
    case WriteVerb::kCreate:
      return create_object(writing, request);
    case WriteVerb::kDelete:
      return delete_object(writing, request);
    case WriteVerb::kEvict:
      return evict_pod(writing, request);
    default:
      return update_object(writing, request);
  }
}

void check_write(const WriteRequest& request) {
  const StoreKey& key = request.key;
  if (key.type == nullptr) throw not_served();
  if (key.type->namespaced == key.namespace_.empty()) throw not_served();
  if (request.subresource == "status" && !key.type->has_status) throw not_served();
  if (request.verb == WriteVerb::kApply && request.field_manager.empty())
    throw invalid_options("PatchOptions.meta.k8s.io",
                          {required_value("fieldManager", "is required for apply patch")});
}

std::string read(const Store& store, const Target& target) {
  switch (target.what) {
    case Target::What::kVersion:
      return describe_version();
    case Target::What::kDiscovery:
      return describe_resources(target);
    case Target::What::kNothing:
      throw not_served();
    case Target::What::kResource:
      break;
  }
  if (target.name.empty()) return list_objects(store, target);
  const bool status = target.subresource == "status" && target.type->has_status;
  if (!target.subresource.empty() && !status) throw not_served();
  const ObjectPtr object = store.find({target.type, target.namespace_, target.name});
  if (object == nullptr) throw not_found(*target.type, target.name);
  return to_text(*object);
}

}  // namespace

ApiServer::ApiServer(Store& store, const VirtualClock& clock, Random random)
    : store_(store), clock_(clock), random_(random) {
  store_.observe([this](const Change& change) {
    if (change.user == kRestorer) return;  // no watch of etcd shows a restore
    for (std::size_t i = 0; i < watches_.size(); ++i)
      if (const std::shared_ptr<Watch> watch = watches_[i].lock()) watch->on_change(change);
  });
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    json body = {{"metadata", {{"name", name}}}};
    write({.verb = WriteVerb::kCreate,
           .key = {find_resource_type("namespaces"), "", ""},
           .body = std::make_shared<const json>(std::move(body)),
           .user = "kube-apiserver"});
  }
  // A generator of its own, so that drafts do not change the uids of other objects.
  Random chance(0);
  Writing writing{store_, clock_, chance, policy};
  for (json& body : system_priority_classes())
    create_object(writing, {.verb = WriteVerb::kCreate,
                            .key = {find_resource_type("priorityclasses"), "", ""},
                            .body = std::make_shared<const json>(std::move(body)),
                            .field_manager = "kube-apiserver",
                            .user = "kube-apiserver"});
}

ApiServer::~ApiServer() = default;

ApiReply ApiServer::call(const ApiCall& call) {
  try {
    const Target target = parse_target(call.target);
    if (call.method == "GET") return {200, read(store_, target), {}};
    if (target.what != Target::What::kResource) throw not_served();
    const WriteReply reply = write(read_write(call, target));
    ApiReply text{reply.code, text_of(store_, reply.body), {}};
    if (reply.retry_after_s > 0)
      text.headers.emplace_back("Retry-After", std::to_string(reply.retry_after_s));
    return text;
  } catch (const Refusal& refusal) {
    return reply_of(refusal);
  }
}

void ApiServer::submit(const WriteRequest& request, const Done& done) {
  if (!admission || !admission(request, done)) done(write(request));
}

WriteReply ApiServer::draft(const WriteRequest& request) {
  try {
    check_write(request);
    Writing writing{store_, clock_, random_, policy};
    return draft_object(writing, request);
  } catch (const Refusal& refusal) {
    return {refusal.code, std::make_shared<const json>(refusal.status())};
  }
}

WriteReply ApiServer::write(const WriteRequest& request) {
  try {
    check_write(request);
    WriteRequest own = request;
    if (own.field_manager.empty()) own.field_manager = own.user;
    if (own.verb == WriteVerb::kDelete && own.body != nullptr)
      own.dry_run = own.dry_run || holds_text(*own.body, {"dryRun"}, "All");
    Writing writing{store_, clock_, random_, policy};
    return run(writing, own);
  } catch (const Refusal& refusal) {
    return {refusal.code, std::make_shared<const json>(refusal.status()), refusal.retry_after_s};
  }
}

bool ApiServer::is_watch(const ApiCall& call) {
  return call.method == "GET" && call.target.find("watch=") != call.target.npos &&
         parse_target(call.target).flag("watch");
}

std::shared_ptr<Watch> ApiServer::watch(const ApiCall& call, WatchSink sink, ApiReply& reply) {
  try {
    const Target target = parse_target(call.target);
    if (target.what != Target::What::kResource || !target.subresource.empty()) throw not_served();
    check_list_options(target, true);
    Selector selector = parse_selector(*target.type, target.option("labelSelector"),
                                       target.option("fieldSelector"));
    const std::int64_t timeout_s = parse_revision(target.option("timeoutSeconds")).value_or(0);
    const MonotonicTime end =
        timeout_s == 0 ? MonotonicTime(0) : clock_.now() + std::chrono::seconds(timeout_s);
    auto watch = std::make_shared<Watch>(target, std::move(selector), std::move(sink), end);
    std::erase_if(watches_, [](const std::weak_ptr<Watch>& one) { return one.expired(); });
    watches_.push_back(watch);
    watch->begin(store_);
    reply = {200, "", {}};
    return watch;
  } catch (const Refusal& refusal) {
    reply = reply_of(refusal);
    return nullptr;
  }
}

void ApiServer::beat() {
  const std::vector<std::weak_ptr<Watch>> open = watches_;
  for (const std::weak_ptr<Watch>& one : open)
    if (const std::shared_ptr<Watch> watch = one.lock()) watch->on_beat(store_, clock_.now());
}

}  // namespace berth::sim
