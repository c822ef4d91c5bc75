// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_nodes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/node_facts.h"
#include "controller/page/node_pieces.h"
#include "controller/page/page_text.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string_view service_of(const Node& node) {
  if (!node.ready) return "NotReady";
  return node.cordoned() ? "Cordoned" : "InService";
}

// The memory units of one device of the resource; 0: unknown.
int units_of(const Product& product, std::string_view resource) {
  if (resource == kGpuResource) return product.memory_units;
  const Profile* profile = profile_behind(product, resource);
  return profile == nullptr ? 0 : profile->memory_units;
}

// The viewer's part of the cluster, and all of it; equal for a viewer with all rights.
struct Sight {
  const Snapshot& seen;
  const Snapshot& all;
  bool whole() const { return &seen.cluster == &all.cluster; }
  bool names(std::string_view namespace_, std::string_view pod) const {
    return whole() || seen.cluster.pods().find(namespace_, pod) != nullptr;
  }
};

struct Holders {
  // As (namespace, pod, count, queue).
  std::vector<std::tuple<std::string, std::string, std::int64_t, std::string>> pods;
  std::int64_t others = 0;
};
// The holders of the node's GPUs, by resource.
std::map<std::string, Holders> holders_on(const Sight& sight, const Node& node) {
  std::map<std::string, Holders> holders;
  for (const Occupant& occupant : sight.all.cluster.occupants_of(node.meta.name)) {
    const std::string& pod = occupant.pod->meta.name;
    const bool named = sight.names(occupant.namespace_.view(), pod);
    each_demand(occupant, [&](const Text& resource, std::int64_t count) {
      if (count <= 0) return;
      Holders& of = holders[resource.str()];
      if (named)
        of.pods.emplace_back(occupant.namespace_.str(), pod, count,
                             occupant.pod->meta.labels.get(names::kQueueLabel).str());
      else
        of.others += count;
    });
  }
  for (auto& [resource, of] : holders) std::sort(of.pods.begin(), of.pods.end());
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

// The measurements of each GPU, which show the pods on it. In percent, so that noise is no change.
// Empty: none.
std::string measured_on(const Sight& sight, const Node& node) {
  const Samples& samples = sight.all.samples;
  Json seen = Json::array();
  for (const GpuSample& gpu : samples.on(node.meta.name)) {
    if (!samples.is_fresh(gpu, sight.all.now)) continue;
    Json one = {{"gpu", gpu.index.view()}};
    if (!gpu.profile.view().empty()) one["profile"] = gpu.profile.view();
    if (gpu.activity)
      one["busy"] = static_cast<int>(100 * std::clamp(*gpu.activity, 0.0f, 1.0f) + 0.5f);
    std::int64_t others = 0;
    for (const GpuHolder& holder : gpu.holders)
      if (sight.names(holder.namespace_.view(), holder.pod.view()))
        one["held"].push_back({holder.namespace_.view(), holder.pod.view()});
      else
        ++others;
    if (others > 0) one["others"] = others;
    seen.push_back(std::move(one));
  }
  return seen.empty() ? std::string() : compact(seen);
}

// The node's resources. Only the node itself knows which pod has which GPU. The result depends on
// nothing but the node and its pods, so that NodePieces may keep it.
Json node_of(const Sight& sight, const Node& node) {
  Json out = {{"pool", node.meta.labels.get(names::kPoolLabel).view()},
              {"service", service_of(node)}};
  const std::optional<Inventory> inventory = inventory_of(node);
  const Product* product =
      inventory ? find_product(inventory->product, inventory->memory_mib) : nullptr;
  if (inventory) out["product"] = inventory->product, out["gpus"] = inventory->count;
  if (product != nullptr) out["units"] = product->memory_units;
  auto holders = holders_on(sight, node);
  Json parts = Json::array();
  std::int64_t uncut = product != nullptr ? inventory->count * product->memory_units : 0;
  bool cut = false;
  for (const auto& [resource, amount] : gpus_in(node.allocatable)) {
    const int units = product != nullptr ? units_of(*product, resource.view()) : 0;
    cut = cut || is_mig_resource(resource.view());
    uncut = units == 0 ? 0 : std::max<std::int64_t>(0, uncut - units * amount.rounded_up());
    const Holders& of = holders[resource.str()];
    Json held = Json::array();
    for (const auto& [namespace_, pod, count, queue] : of.pods) {
      Json one = Json::array({namespace_, pod, count});
      if (!queue.empty()) one.push_back(queue);
      held.push_back(std::move(one));
    }
    Json part = {{"resource", resource.view()},
                 {"offered", amount.rounded_up()},
                 {"units", units},
                 {"held", std::move(held)}};
    if (of.others > 0) part["others"] = of.others;
    parts.push_back(std::move(part));
  }
  out["parts"] = std::move(parts);
  if (cut && uncut > 0) out["unused"] = uncut;
  tell_rollout(node, out);
  return out;
}

}  // namespace

std::map<std::string, std::string> page_nodes(const Snapshot& seen, const Snapshot& all) {
  const Sight sight{seen, all};
  const auto make = [&](const Node& node) { return compact(node_of(sight, node)); };
  std::map<std::string, std::string> out;
  for (const auto& node : seen.cluster.nodes()) {
    if (!has_gpus(*node)) continue;
    std::string& piece = out[node->meta.name];
    piece = sight.whole() ? all.cluster.view<NodePieces>().of(*node, make) : make(*node);
    if (const std::string measured = measured_on(sight, *node); !measured.empty())
      piece.insert(piece.size() - 1, ",\"seen\":" + measured);
  }
  return out;
}

}  // namespace berth
