// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_state.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "apis/names.h"
#include "apis/time.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/explain/top.h"
#include "controller/explain/waiting_list.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kPageApiVersion[] = "page.gpu.berth.dev/v1";

std::string_view service_of(const Node& node) {
  if (!node.ready) return "NotReady";
  return node.cordoned() ? "Cordoned" : "InService";
}

// How many memory units one device of the resource takes; 0: not to be told.
int units_of(const Product& product, std::string_view resource) {
  if (resource == "nvidia.com/gpu") return product.memory_units;
  for (const Profile& profile : product.profiles)
    if (mig_resource_name(profile.name) == resource) return profile.memory_units;
  return 0;
}

using Holder = std::tuple<std::string, std::string, std::int64_t>;  // namespace, pod, count
std::map<std::string, std::vector<Holder>> holders_on(const Snapshot& snapshot, const Node& node) {
  std::map<std::string, std::vector<Holder>> holders;
  for (const Occupant& occupant : snapshot.cluster.occupants_of(node.meta.name))
    each_demand(occupant, [&](const Text& resource, std::int64_t count) {
      if (count > 0)
        holders[resource.str()].emplace_back(occupant.namespace_.str(), occupant.pod->meta.name,
                                             count);
    });
  for (auto& [resource, pods] : holders) std::sort(pods.begin(), pods.end());
  return holders;
}

void tell_rollout(const Node& node, Json& out) {
  const RolloutRecord record = read_rollout(node);
  if (record.idle()) return;
  out["rollout"] = {{"layout", record.rollout->layout},
                    {"phase", to_string(record.rollout->phase)},
                    {"since", format_time(record.rollout->since)},
                    {"why", record.rollout->why}};
}

// What the node offers, resource by resource. Which pod has which GPU only the node knows.
Json node_of(const Snapshot& snapshot, const Node& node) {
  Json out = {{"name", node.meta.name},
              {"pool", node.meta.labels.get(names::kPoolLabel).view()},
              {"service", service_of(node)}};
  const std::optional<Inventory> inventory = inventory_of(node);
  const Product* product =
      inventory ? find_product(inventory->product, inventory->memory_mib) : nullptr;
  if (inventory) out["product"] = inventory->product, out["gpus"] = inventory->count;
  auto holders = holders_on(snapshot, node);
  Json parts = Json::array();
  std::int64_t uncut = product != nullptr ? inventory->count * product->memory_units : 0;
  bool cut = false;
  for (const auto& [resource, amount] : node.allocatable) {
    if (!is_gpu_resource(resource.view()) || amount.is_zero()) continue;
    const int units = product != nullptr ? units_of(*product, resource.view()) : 0;
    cut = cut || resource.view().starts_with("nvidia.com/mig-");
    uncut = units == 0 ? 0 : std::max<std::int64_t>(0, uncut - units * amount.rounded_up());
    Json held = Json::array();
    for (const auto& [namespace_, pod, count] : holders[resource.str()])
      held.push_back({{"namespace", namespace_}, {"pod", pod}, {"count", count}});
    parts.push_back({{"resource", resource.view()},
                     {"offered", amount.rounded_up()},
                     {"units", units},
                     {"held", std::move(held)}});
  }
  out["parts"] = std::move(parts);
  if (cut && uncut > 0) out["unused"] = uncut;
  tell_rollout(node, out);
  return out;
}

Json nodes_of(const Snapshot& snapshot) {
  std::map<std::string, const Node*> by_name;
  for (const auto& node : snapshot.cluster.nodes())
    if (has_gpus(*node)) by_name[node->meta.name] = node.get();
  Json out = Json::array();
  for (const auto& [name, node] : by_name) out.push_back(node_of(snapshot, *node));
  return out;
}

Json table_of(const TopTable& table) { return {{"columns", table.columns}, {"rows", table.rows}}; }

Json waiting_of(const Snapshot& snapshot, const Clues& clues) {
  Json out = Json::array();
  for (const Explanation& item : list_waiting(snapshot, "", clues).items) {
    Json remedies = Json::array();
    for (const Explanation::Remedy& remedy : item.remedies)
      remedies.push_back({{"message", remedy.message}, {"line", remedy.line}});
    out.push_back({{"subject", item.subject.str()},
                   {"reason", item.reason},
                   {"message", item.message},
                   {"remedies", std::move(remedies)}});
  }
  return out;
}

}  // namespace

std::string page_state(const Snapshot& snapshot, const Clues& clues) {
  const Json state = {{"apiVersion", kPageApiVersion},
                      {"takenAt", format_time(snapshot.now)},
                      {"nodes", nodes_of(snapshot)},
                      {"pools", table_of(top_pools(snapshot))},
                      {"queues", table_of(top_queues(snapshot))},
                      {"waiting", waiting_of(snapshot, clues)}};
  return state.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace berth
