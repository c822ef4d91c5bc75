// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/end_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/time.h"
#include "controller/core/plural.h"
#include "controller/scenario/gpu_pods.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

const json* condition(const json& object, const std::string& type) {
  const json* conditions = sim::find_at(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const json& item : *conditions)
    if (text_at(item, {"type"}) == type) return &item;
  return nullptr;
}

LayoutEnd layout_end(const json& layout) {
  const auto count = [&](const char* which) {
    return sim::integer_at(layout, {"status", "nodes", which}).value_or(0);
  };
  LayoutEnd end{.name = text_at(layout, {"metadata", "name"}),
                .selected = count("selected"),
                .updated = count("updated"),
                .in_progress = count("inProgress"),
                .blocked = count("blocked"),
                .failed = count("failed"),
                .config = text_at(layout, {"status", "configHash"})};
  if (const json* ready = condition(layout, "Ready")) {
    end.ready = text_at(*ready, {"status"});
    end.reason = text_at(*ready, {"reason"});
    end.message = text_at(*ready, {"message"});
  }
  return end;
}

NodeEnd node_end(const json& node, const std::map<std::string, int>& gpu_pods) {
  const std::string name = text_at(node, {"metadata", "name"});
  const json* ready = condition(node, "Ready");
  NodeEnd end{
      .name = name,
      .status = ready != nullptr && text_at(*ready, {"status"}) == "True" ? "Ready" : "NotReady",
      .mig_config = text_at(node, {"metadata", "labels", names::kMigConfig}),
      .offers = devices_of_node(node)};
  if (sim::true_at(node, {"spec", "unschedulable"})) end.status += ",SchedulingDisabled";
  if (auto it = gpu_pods.find(name); it != gpu_pods.end()) end.gpu_pods = it->second;
  return end;
}

// In characters, not bytes: "×" is one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string out_for(const std::string& node, const std::vector<NodeOut>& outs) {
  std::chrono::milliseconds sum{0};
  for (const NodeOut& out : outs)
    if (out.node == node) sum += out.total();
  return sum.count() == 0 ? "-"
                          : format_duration_short(std::chrono::round<std::chrono::seconds>(sum));
}

}  // namespace

EndState end_state(const sim::Store& store, const Settings& settings) {
  EndState end;
  std::map<std::string, int> gpu_pods;
  for (const sim::ObjectPtr& pod : store.list(*sim::find_resource_type("pods"))) {
    const std::string node = text_at(*pod, {"spec", "nodeName"});
    const std::string namespace_ = text_at(*pod, {"metadata", "namespace"});
    if (namespace_ == settings.agents_namespace) continue;
    if (node.empty())
      end.waiting.push_back(namespace_ + "/" + text_at(*pod, {"metadata", "name"}));
    else if (text_at(*pod, {"status", "phase"}) == "Running" && !devices_of_pod(*pod).empty())
      ++gpu_pods[node];
  }
  for (const sim::ObjectPtr& layout : store.list(*sim::find_resource_type("miglayouts")))
    end.layouts.push_back(layout_end(*layout));
  for (const sim::ObjectPtr& node : store.list(*sim::find_resource_type("nodes")))
    end.nodes.push_back(node_end(*node, gpu_pods));
  return end;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    text.append(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += printable(row[i]);
      if (i + 1 < row.size()) text.append(widths[i] - width(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string print_text(const EndState& end, const std::vector<NodeOut>& outs) {
  std::string text;
  if (!end.layouts.empty()) {
    std::vector<std::vector<std::string>> rows{
        {"LAYOUT", "READY", "NODES", "UPDATED", "IN-PROGRESS", "BLOCKED", "FAILED", "CONFIG"}};
    for (const LayoutEnd& l : end.layouts)
      rows.push_back({l.name, l.ready.empty() ? "-" : l.ready, std::to_string(l.selected),
                      std::to_string(l.updated), std::to_string(l.in_progress),
                      std::to_string(l.blocked), std::to_string(l.failed),
                      l.config.empty() ? "-" : l.config});
    text += table(rows) + "\n";
  }
  std::vector<std::vector<std::string>> rows{
      {"NODE", "STATUS", "GPU PODS", "OUT FOR", "MIG CONFIG", "OFFERS"}};
  for (const NodeEnd& n : end.nodes)
    rows.push_back({n.name, n.status, std::to_string(n.gpu_pods), out_for(n.name, outs),
                    n.mig_config.empty() ? "-" : n.mig_config, n.offers});
  text += table(rows);
  if (!end.waiting.empty())
    text += fmt::format("\nPods that still wait: {} ({})\n", end.waiting.size(),
                        list_first(end.waiting, 5));
  return text;
}

}  // namespace berth
