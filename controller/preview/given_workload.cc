// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/given_workload.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/dump/json_at.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/queue_choice.h"

namespace berth {
namespace {

using nlohmann::json;

// Like the API server: a limit without a request becomes the request.
void default_requests(json& resources) {
  if (!resources.is_object()) return;
  const json limits = at(resources, {"limits"});
  const json& requests = at(resources, {"requests"});
  // read_workload() reports values of a wrong type.
  if (!limits.is_object() || !(requests.is_null() || requests.is_object())) return;
  for (const auto& [name, amount] : limits.items())
    if (at(resources, {"requests", name}).is_null()) resources["requests"][name] = amount;
}

void default_requests_of_pod(json& spec) {
  if (spec.contains("resources")) default_requests(spec["resources"]);
  for (const char* list : {"containers", "initContainers"}) {
    if (!at(spec, {list}).is_array()) continue;
    for (json& container : spec[list])
      if (container.is_object() && container.contains("resources"))
        default_requests(container["resources"]);
  }
}

// The pods' spec, in the object or in its template; null: there is none.
json* pod_spec(json& object, const std::string& kind) {
  json* place = &object;
  for (const char* step : {"spec", "template", "spec"}) {
    if (!place->is_object() || !place->contains(step)) return nullptr;
    place = &(*place)[step];
    if (kind == kKind<Pod>.kind) break;
  }
  return place->is_object() ? place : nullptr;
}

template <class T>
Result<GivenWorkload> read_as(const json& document) {
  std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  Result<T> object = decode_object<T>(text);
  if (!object) return std::move(object).error();
  return GivenWorkload{.object = *std::move(object), .priority_class = {}};
}

ObjectMeta& meta_of(GivenWorkload& given) {
  return std::visit([](auto& object) -> ObjectMeta& { return object.meta; }, given.object);
}

// Like the priority admission plugin, which has not seen the pod yet.
std::int32_t priority_of(const std::string& priority_class, const ClusterState& cluster) {
  if (!priority_class.empty()) {
    const PriorityClass* named = cluster.priority_classes().find(priority_class);
    return named == nullptr ? 0 : named->value;
  }
  for (const auto& each : cluster.priority_classes())
    if (each->global_default) return each->value;
  return 0;
}

// Where Kueue's label is ignored, the webhook puts the workload into its namespace's default queue.
void label_as_made(ObjectMeta& meta, const PodShape& shape, const ClusterState& cluster) {
  if (!shape->asks_for_gpus() || !queue::is_left_to_kueue(meta)) return;
  const auto& choice = cluster.view<queue::QueueChoice>();
  if (const GPUQueue* queue = choice.default_of(meta.namespace_.view()))
    meta.labels.set(names::kQueueLabel, queue->meta.name);
}

void put(Job job, ClusterState& cluster, Time now) {
  job.suspended = true;
  job.active = job.ready = job.terminating = job.succeeded = job.failed = 0;
  job.start_time.reset();
  job.has_been_suspended = job.finished = false;
  cluster.upsert(std::move(job), now);
}

void put(Pod pod, const std::string& priority_class, ClusterState& cluster, Time now) {
  pod.phase = PodPhase::kPending;
  pod.start_time.reset();
  {
    auto shape = pod.shape.edit();
    if (shape->scheduling_gates.empty()) shape->scheduling_gates.push_back(names::kQueueLabel);
    if (shape->priority == 0) shape->priority = priority_of(priority_class, cluster);
  }
  cluster.upsert(std::move(pod), now);
}

}  // namespace

const ObjectMeta& GivenWorkload::meta() const {
  return std::visit([](const auto& of) -> const ObjectMeta& { return of.meta; }, object);
}

const PodShape& GivenWorkload::shape() const {
  if (const Job* job = std::get_if<Job>(&object)) return job->pod_shape;
  return std::get<Pod>(object).shape;
}

std::string GivenWorkload::kind() const {
  return std::string(std::holds_alternative<Job>(object) ? kKind<Job>.kind : kKind<Pod>.kind);
}

bool is_workload(const ManifestDocument& document) {
  return (document.kind == kKind<Job>.kind && document.api_version == api_version(kKind<Job>)) ||
         (document.kind == kKind<Pod>.kind && document.api_version == api_version(kKind<Pod>));
}

Result<GivenWorkload> read_workload(const ManifestDocument& document, std::string_view namespace_) {
  json object = json::parse(document.json);
  if (json* spec = pod_spec(object, document.kind)) default_requests_of_pod(*spec);
  Result<GivenWorkload> read =
      document.kind == kKind<Job>.kind ? read_as<Job>(object) : read_as<Pod>(object);
  if (!read) return read;
  read->priority_class = text_at(object, {"spec", "priorityClassName"});
  constexpr const char* kMemory = names::kRequiredGpuMemoryAnnotation;
  read->required_gpu_memory =
      document.kind == kKind<Job>.kind
          ? text_at(object, {"spec", "template", "metadata", "annotations", kMemory})
          : text_at(object, {"metadata", "annotations", kMemory});
  ObjectMeta& meta = meta_of(*read);
  // The API server generates the name.
  if (meta.name.empty() && !text_at(object, {"metadata", "generateName"}).empty())
    meta.name = text_at(object, {"metadata", "generateName"}) + "xxxxx";
  if (meta.name.empty()) return invalid_spec("metadata.name", "required");
  if (meta.namespace_.empty()) meta.namespace_ = namespace_;
  return read;
}

void put_workload(const GivenWorkload& given, ClusterState& cluster, Time now) {
  GivenWorkload made = given;
  ObjectMeta& meta = meta_of(made);
  meta.uid = "what-if-" + made.kind() + "-" + key_of(meta).str();
  meta.creation_timestamp = now;
  meta.deletion_timestamp.reset();
  label_as_made(meta, given.shape(), cluster);
  if (Job* job = std::get_if<Job>(&made.object))
    put(std::move(*job), cluster, now);
  else
    put(std::move(std::get<Pod>(made.object)), made.priority_class, cluster, now);
}

std::string workload_name(const GivenWorkload& given) {
  return std::visit([](const auto& object) { return queue::workload_name(object); }, given.object);
}

}  // namespace berth
