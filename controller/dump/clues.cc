// SPDX-License-Identifier: Apache-2.0
#include "controller/dump/clues.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/dump/json_at.h"

namespace berth {
namespace {

using nlohmann::json;

std::int64_t number_at(const json& object, std::initializer_list<std::string_view> path,
                       std::int64_t otherwise) {
  const json& value = at(object, path);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

bool flag_at(const json& object, std::initializer_list<std::string_view> path) {
  const json& value = at(object, path);
  return value.is_boolean() && value.get<bool>();
}

const json* condition_of(const json& object, std::string_view type, std::string_view status) {
  for (const json& condition : at(object, {"status", "conditions"}))
    if (text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == status)
      return &condition;
  return nullptr;
}

Workload read_workload(std::string_view kind, const json& item) {
  Workload out{.kind = std::string(kind),
               .namespace_ = text_at(item, {"metadata", "namespace"}),
               .name = text_at(item, {"metadata", "name"}),
               .uid = text_at(item, {"metadata", "uid"}),
               .replicas = number_at(item, {"spec", "replicas"}, 1),
               .paused = flag_at(item, {"spec", "paused"})};
  for (const json& owner : at(item, {"metadata", "ownerReferences"}))
    if (flag_at(owner, {"controller"})) out.owner_uid = text_at(owner, {"uid"});
  if (const json* failure = condition_of(item, "ReplicaFailure", "True"))
    out.failure = text_at(*failure, {"message"});
  return out;
}

RefusalEvent read_event(const json& item) {
  RefusalEvent out{.namespace_ = text_at(item, {"involvedObject", "namespace"}),
                   .object_kind = text_at(item, {"involvedObject", "kind"}),
                   .object_name = text_at(item, {"involvedObject", "name"}),
                   .object_uid = text_at(item, {"involvedObject", "uid"}),
                   .message = text_at(item, {"message"})};
  for (const std::string& text : {text_at(item, {"series", "lastObservedTime"}),
                                  text_at(item, {"lastTimestamp"}), text_at(item, {"eventTime"})})
    if (const Result<Time> time = parse_time(text); time && !out.last) out.last = *time;
  return out;
}

// The containers of one list, named spec.LIST[i].
void read_containers(const json& item, std::string_view list, std::vector<ContainerClue>& out) {
  std::size_t index = 0;
  for (const json& container : at(item, {"spec", list})) {
    ContainerClue clue{.field = fmt::format("spec.{}[{}]", list, index++)};
    if (const json& requests = at(container, {"resources", "requests"}); requests.is_object())
      for (const auto& [resource, count] : requests.items())
        clue.requests.emplace_back(resource,
                                   count.is_string() ? count.get<std::string>() : count.dump());
    if (const json& place = at(container, {"visibleDevices"}); place.is_number_integer())
      clue.visible_devices = place.get<std::int64_t>();
    clue.require_cuda = text_at(container, {"requireCuda"});
    out.push_back(std::move(clue));
  }
}

}  // namespace

const PodClues* Clues::of(const Pod& pod) const {
  const auto found = pods.find(key_of(pod.meta));
  return found == pods.end() ? nullptr : &found->second;
}

const Unread* Clues::find_unread(std::string_view resource) const {
  const auto found = std::ranges::find(unread, resource, &Unread::resource);
  return found == unread.end() ? nullptr : &*found;
}

const Clues& no_clues() {
  static const Clues kNone;
  return kNone;
}

Result<bool> take_clue(std::string_view kind, const json& item, Clues& clues) {
  if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet") {
    clues.workloads.push_back(read_workload(kind, item));
    return true;
  }
  if (kind == "Event") {
    clues.refusals.push_back(read_event(item));
    return true;
  }
  if (kind != "Lease") return false;
  std::string text = item.dump();
  Result<Lease> lease = decode_object<Lease>(text);
  if (!lease) return std::move(lease).error();
  clues.lease = *std::move(lease);
  return true;
}

void take_pod_clues(const json& item, Clues& clues) {
  PodClues out;
  for (const std::string_view list : {"containers", "initContainers"})
    read_containers(item, list, out.containers);
  const bool waits = text_at(item, {"spec", "nodeName"}).empty();
  const bool says_of_devices = std::ranges::any_of(out.containers, [](const ContainerClue& c) {
    return c.visible_devices.has_value() || !c.require_cuda.empty();
  });
  if (!waits && !says_of_devices) return;
  if (const json* scheduled = condition_of(item, "PodScheduled", "False")) {
    out.scheduler_reason = text_at(*scheduled, {"reason"});
    out.scheduler_says = text_at(*scheduled, {"message"});
  }
  clues.pods[{text_at(item, {"metadata", "namespace"}), text_at(item, {"metadata", "name"})}] =
      std::move(out);
}

void take_unread(const json& list, Clues& clues) {
  for (const json& item : list)
    clues.unread.push_back({.resource = text_at(item, {"resource"}),
                            .namespace_ = text_at(item, {"namespace"}),
                            .instead = text_at(item, {"instead"}),
                            .reason = text_at(item, {"reason"}),
                            .message = text_at(item, {"message"})});
}

json encode(const Unread& unread) {
  return {{"resource", unread.resource},
          {"namespace", unread.namespace_},
          {"instead", unread.instead},
          {"reason", unread.reason},
          {"message", unread.message}};
}

}  // namespace berth
