// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/json.h"

#include <nlohmann/json.hpp>

#include "controller/preview/json_queues.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

// Writes empty lists too, so that readers need no special case.
template <class T, class Encode>
Json list(const std::vector<T>& values, Encode&& encode) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(encode(value));
  return out;
}

Json encode(const NodeCounts& counts) {
  return {{"selected", counts.selected},      {"updated", counts.updated},
          {"inProgress", counts.in_progress}, {"blocked", counts.blocked},
          {"failed", counts.failed},          {"pending", counts.pending}};
}

Json encode(const LayoutSummary::Config& config) {
  return {{"product", config.product},
          {"name", config.name},
          {"layout", config.layout},
          {"nodes", config.nodes}};
}

// Without the transition time, because the condition has not been written.
Json encode(const Condition& condition) {
  return {{"type", condition.type},
          {"status", condition.status},
          {"reason", condition.reason},
          {"message", condition.message}};
}

Json encode(const LayoutSummary& layout) {
  Json out = {{"name", layout.name},
              {"change", to_string(layout.change)},
              {"given", layout.given},
              {"takesEveryNode", layout.takes_every_node},
              {"selectsNone", layout.selects_none},
              {"maxOut", layout.budget},
              {"before", encode(layout.before)},
              {"after", encode(layout.after)},
              {"configs", list(layout.configs, [](const auto& c) { return encode(c); })},
              {"lost", layout.lost},
              {"conditions", list(layout.conditions, [](const auto& c) { return encode(c); })}};
  if (!layout.left.empty()) out["left"] = layout.left;
  return out;
}

Json encode(const PodMove& move) {
  return {{"pod", move.pod},           {"owner", move.owner},
          {"requests", move.requests}, {"fate", to_string(move.fate)},
          {"node", move.node},         {"why", move.why}};
}

Json encode(const NodeChange& change) {
  Json out = {{"node", change.node}, {"layout", change.layout}};
  if (change.in_hand) {
    out["phase"] = change.in_hand->phase;
    out["since"] = format_time(change.in_hand->since);
    out["reason"] = change.in_hand->cause.reason;
    out["message"] = change.in_hand->cause.message;
  }
  out.update({{"from", change.from},
              {"to", change.to},
              {"wasOut", change.was_out},
              {"outcome", to_string(change.outcome)},
              {"pods", list(change.pods, [](const auto& p) { return encode(p); })}});
  return out;
}

Json encode(const Refusal& refusal) {
  return {{"layout", refusal.layout},       {"nodes", refusal.nodes},
          {"reason", refusal.cause.reason}, {"message", refusal.cause.message},
          {"line", refusal.line},           {"invalidSpec", refusal.spec}};
}

Json encode(const BudgetInTheWay& budget) {
  return {{"budget", budget.budget},
          {"disruptionsAllowed", budget.disruptions_allowed},
          {"nodes", budget.nodes},
          {"pods", budget.pods}};
}

Json encode(const CapacityRow& row) {
  Json out = {{"resource", row.resource}, {"before", row.before},    {"lowest", row.lowest},
              {"after", row.after},       {"minAvailable", nullptr}, {"retired", row.retired}};
  if (row.min_available) out["minAvailable"] = *row.min_available;
  return out;
}

Json encode(const ObjectChange& change) {
  return {{"object", change.object},
          {"created", change.created},
          {"deleted", change.deleted},
          {"lines", change.lines}};
}

Json encode(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

Json encode(const std::optional<Time>& time) {
  return time ? Json(format_time(*time)) : Json(nullptr);
}

Json encode(const PoolSummary::Edit& edit) {
  return {{"kind", edit.effect.empty() ? "label" : "taint"},
          {"key", edit.key},
          {"effect", edit.effect},
          {"from", encode(edit.from)},
          {"to", encode(edit.to)},
          {"nodes", edit.nodes}};
}

Json encode(const PoolSummary& pool) {
  return {{"name", pool.name},
          {"change", pool.removed ? "Removed" : to_string(pool.change)},
          {"sharing", pool.sharing},
          {"enter", pool.enter},
          {"leave", pool.leave},
          {"stay", pool.stay},
          {"edits", list(pool.edits, [](const auto& e) { return encode(e); })}};
}

Json encode(const PodConcern& concern) {
  return {{"kind", to_string(concern.kind)},
          {"pool", concern.pool},
          {"message", concern.message},
          {"nodes", concern.nodes},
          {"pods", concern.pods}};
}

Json encode(const PolicySummary& policy) {
  Json out = {{"name", policy.name},
              {"change", to_string(policy.change)},
              {"given", policy.given},
              {"pools", list(policy.pools, [](const auto& p) { return encode(p); })},
              {"conflicts", list(policy.conflicts,
                                 [](const PoolConflict& c) {
                                   return Json{{"node", c.node}, {"pools", c.pools}};
                                 })},
              {"pods", list(policy.pods, [](const auto& p) { return encode(p); })},
              {"windows", nullptr},
              {"conditions", list(policy.conditions, [](const auto& c) { return encode(c); })}};
  if (const auto& windows = policy.windows)
    out["windows"] = {{"open", windows->open},
                      {"nextOpening", encode(windows->next_opening)},
                      {"closes", encode(windows->closes)}};
  if (!policy.left.empty()) out["left"] = policy.left;
  return out;
}

}  // namespace

std::string print_json(const Projection& projection) {
  Json out = {{"apiVersion", kPlanApiVersion},
              {"kind", "Plan"},
              {"changes", projection.changes()},
              {"asked", false},
              {"layouts", list(projection.layouts, [](const auto& l) { return encode(l); })},
              {"policy", projection.policy ? encode(*projection.policy) : Json(nullptr)},
              {"underWay", list(projection.under_way, [](const auto& n) { return encode(n); })},
              {"nodes", list(projection.nodes, [](const auto& n) { return encode(n); })},
              {"refusals", list(projection.refusals, [](const auto& r) { return encode(r); })},
              {"budgets", list(projection.budgets, [](const auto& b) { return encode(b); })},
              {"capacity", list(projection.capacity, [](const auto& c) { return encode(c); })},
              {"objects", list(projection.objects, [](const auto& o) { return encode(o); })},
              {"agentSwitch", nullptr},
              {"queues", projection.queues ? encode_queues(*projection.queues) : Json(nullptr)},
              {"stopped", projection.stopped}};
  if (const auto& agents = projection.agent_switch)
    out["agentSwitch"] = {
        {"object", agents->object}, {"line", agents->line}, {"message", agents->message}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth
