// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/resource_quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/time.h"
#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kServer[] = "kube-apiserver";
// If a quota limits one of these, every container must state its amount.
constexpr std::string_view kSaid[] = {"cpu", "memory", "requests.cpu", "requests.memory"};

Amounts amounts_of(const json* list) {
  Amounts amounts;
  if (list == nullptr || !list->is_object()) return amounts;
  for (const auto& [name, value] : list->items())
    if (const auto read = Quantity::parse(value.is_string() ? value.get<std::string>() : "");
        read.has_value())
      amounts[name] = *read;
  return amounts;
}

Amounts only(const Amounts& amounts, const Amounts& named) {
  Amounts some;
  for (const auto& [name, amount] : amounts)
    if (named.contains(name)) some[name] = amount;
  return some;
}

std::string print(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, amount_text(name, amount));
  return text;
}

std::string print_names(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) text += (text.empty() ? "" : ",") + name;
  return text;
}

// "cpu for: main,side; memory for: main"; empty if every container states all amounts.
std::string find_unsaid(const json& pod, const Amounts& bounds) {
  std::map<std::string, std::set<std::string>> unsaid;
  for (const char* list : {"containers", "initContainers"}) {
    const json* containers = find_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json& container : *containers)
      for (const std::string_view name : kSaid) {
        const std::string resource(name.substr(name.rfind('.') + 1));
        if (bounds.contains(name) &&
            find_at(container, {"resources", "requests", resource.c_str()}) == nullptr)
          unsaid[std::string(name)].insert(text_at(container, {"name"}));
      }
  }
  std::string text;
  for (const auto& [name, containers] : unsaid)
    text += fmt::format("{}{} for: {}", text.empty() ? "" : "; ", name, fmt::join(containers, ","));
  return text;
}

// The quota's new `used`, or a refusal.
Amounts charge(const StoreKey& key, const json& quota, const json& pod, const Amounts& asked) {
  const std::string name = name_of(quota);
  const Amounts hard = amounts_of(find_at(quota, {"status", "hard"}));
  Amounts used = amounts_of(find_at(quota, {"status", "used"}));
  Amounts bounds;
  for (const auto& [resource, most] : hard)
    if (bounds_pods(resource)) bounds[resource] = most;
  if (bounds.empty()) return used;
  if (const std::string unsaid = find_unsaid(pod, bounds); !unsaid.empty())
    throw forbidden(*key.type, key.name,
                    fmt::format("failed quota: {}: must specify {}", name, unsaid));
  if (only(bounds, used).size() < bounds.size())
    throw forbidden(
        *key.type, key.name,
        fmt::format("status unknown for quota: {}, resources: {}", name, print_names(bounds)));
  Amounts wanted = only(asked, hard);
  std::erase_if(wanted, [](const auto& one) { return one.second.is_zero(); });
  Amounts exceeded;
  for (const auto& [resource, amount] : wanted)
    if (used[resource] + amount > hard.at(resource)) exceeded[resource] = amount;
  if (!exceeded.empty())
    throw forbidden(
        *key.type, key.name,
        fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", name,
                    print(exceeded), print(only(used, exceeded)), print(only(hard, exceeded))));
  add(used, wanted);
  return used;
}

void write_used(Writing& writing, const json& quota, const Amounts& used) {
  json patch;
  for (const auto& [name, amount] : used) patch["status"]["used"][name] = amount_text(name, amount);
  update_object(writing, {.verb = WriteVerb::kMergePatch,
                          .key = key_of("resourcequotas", quota),
                          .subresource = "status",
                          .body = std::make_shared<const json>(std::move(patch)),
                          .field_manager = kServer,
                          .user = kServer});
}

bool has_deadline(const json& pod) {
  return integer_at(pod, {"spec", "activeDeadlineSeconds"}).has_value();
}

bool is_overdue(const json& pod, WallTime now) {
  const auto gone = parse_time(text_at(pod, {"metadata", "deletionTimestamp"}));
  const auto grace = integer_at(pod, {"metadata", "deletionGracePeriodSeconds"});
  return gone.has_value() && grace && now > *gone + std::chrono::seconds(*grace);
}

}  // namespace

Amounts usage_of(const json& pod, WallTime now) {
  Amounts usage{{"count/pods", Quantity::whole(1)}};
  if (is_finished(pod) || is_overdue(pod, now)) return usage;
  usage["pods"] = Quantity::whole(1);
  for (const auto& [name, amount] : requests_of(pod)) {
    if (name == "cpu" || name == "memory") usage[name] = amount;
    if (name == "cpu" || name == "memory" || is_extended(name)) usage["requests." + name] = amount;
  }
  return usage;
}

bool bounds_pods(std::string_view name) {
  constexpr std::string_view kRequests = "requests.";
  return name == "pods" || name == "count/pods" ||
         std::ranges::find(kSaid, name) != std::end(kSaid) ||
         (name.starts_with(kRequests) && is_extended(name.substr(kRequests.size())));
}

std::string amount_text(std::string_view name, const Quantity& amount) {
  const auto whole = amount.as_whole();
  constexpr std::int64_t kStep = 1024;
  if (!name.ends_with("memory") || !whole || *whole < kStep) return amount.str();
  constexpr std::array kSuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::int64_t count = *whole;
  std::size_t power = 0;
  for (; count % kStep == 0; count /= kStep) ++power;
  return std::to_string(count) + kSuffixes.at(power);
}

void charge_quotas(Writing& writing, const WriteRequest& request, const StoreKey& key,
                   const json* live, const json& pod) {
  if (live != nullptr && has_deadline(*live) == has_deadline(pod)) return;
  const std::vector<ObjectPtr> quotas =
      writing.store.list(*find_resource_type("resourcequotas"), key.namespace_);
  if (quotas.empty()) return;
  const Amounts asked = live == nullptr ? usage_of(pod, writing.clock.wall()) : Amounts();
  std::vector<std::pair<ObjectPtr, Amounts>> charged;
  for (const ObjectPtr& quota : quotas)
    charged.emplace_back(quota, charge(key, *quota, pod, asked));
  if (request.dry_run) return;
  for (const auto& [quota, used] : charged)
    if (used != amounts_of(find_at(*quota, {"status", "used"}))) write_used(writing, *quota, used);
}

}  // namespace berth::sim
