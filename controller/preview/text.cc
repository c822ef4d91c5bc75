// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "controller/preview/tell.h"
#include "controller/preview/text_policy.h"
#include "controller/preview/text_queues.h"
#include "controller/preview/text_under_way.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

// With more nodes than this, nodes without moved pods are grouped.
constexpr std::size_t kEachNode = 20;
// With more pods than this on one node, pods with the same fate are grouped.
constexpr std::size_t kEachPod = 5;

struct PodRow {
  std::string pods;
  std::string requests;
  std::string fate;
  std::size_t count = 0;
};

using Out = std::back_insert_iterator<std::string>;

template <class T, class Length>
std::size_t widest(const std::vector<T>& values, Length&& length) {
  std::size_t width = 0;
  for (const T& value : values) width = std::max(width, length(value));
  return width;
}

void print_summary(const Projection& p, Out out) {
  if (!p.changes() && p.refusals.empty() && p.under_way.empty() && p.stopped.empty()) {
    tell(out, "Nothing to do: the cluster already matches {}.\n",
         !p.policy           ? "these layouts"
         : p.layouts.empty() ? "this policy"
                             : "these layouts and this policy");
    return;
  }
  std::size_t evicted = 0;
  for (const std::vector<NodeChange>* nodes : {&p.under_way, &p.nodes})
    for (const NodeChange& node : *nodes)
      evicted += static_cast<std::size_t>(std::ranges::count_if(
          node.pods, [](const PodMove& move) { return move.fate != PodMove::Fate::kEnds; }));
  const std::size_t labelled = p.policy ? nodes_edited(*p.policy) : 0;
  tell(out, "Plan: {}{}{} to repartition, {} to evict, {}.\n",
       labelled == 0 ? "" : fmt::format("{} to label, ", plural(labelled, "node")),
       p.under_way.empty() ? "" : fmt::format("{} under way, ", plural(p.under_way.size(), "node")),
       plural(p.nodes.size(), "node"), plural(evicted, "pod"),
       plural(p.refusals.size(), "refusal"));
}

void print_layout(const LayoutSummary& layout, Out out) {
  const std::string_view change = layout.change == LayoutSummary::Change::kCreated   ? "created"
                                  : layout.change == LayoutSummary::Change::kEdited  ? "edited"
                                  : layout.change == LayoutSummary::Change::kDeleted ? "deleted"
                                                                                     : "unchanged";
  const bool deleted = layout.change == LayoutSummary::Change::kDeleted;
  tell(out, "\nMIGLayout/{} ({}): {} selected: {} match it now{}\n", layout.name, change,
       plural(static_cast<std::size_t>(layout.before.selected), "node"), layout.before.updated,
       deleted ? "" : fmt::format(", {} after", layout.after.updated));
  if (!layout.left.empty()) tell(out, "  {}\n", layout.left);
  if (layout.takes_every_node)
    tell(out, "  nodeSelector: {{}} selects every GPU node of the cluster\n");
  if (!layout.selects_none.empty()) tell(out, "  {}\n", layout.selects_none);
  for (const LayoutSummary::Config& config : layout.configs)
    tell(out, "  {}  {}\n    {}\n", config.product, config.name, config.layout);
  if (!layout.lost.empty())
    tell(out, "  also selected, but another layout owns them: {}\n", name_some(layout.lost));
}

void print_agent_switch(const Projection& p, Out out) {
  if (!p.agent_switch) return;
  if (p.agent_switch->line.empty())
    return tell(out, "\nNothing below happens yet\n    {}\n", p.agent_switch->message);
  tell(out, "\nNothing below happens before this is set in {}:\n    {}\n", p.agent_switch->object,
       p.agent_switch->line);
}

void print_objects(const Projection& p, Out out) {
  for (const ObjectChange& object : p.objects) {
    tell(out, "\n{} ({})\n", object.object,
         object.created   ? "created"
         : object.deleted ? "deleted"
                          : "changed");
    for (const std::string& line : object.lines) tell(out, "  {}\n", line);
  }
}

std::string told(const PodMove& move) {
  switch (move.fate) {
    case PodMove::Fate::kFits:
      return "fits on " + move.node;
    case PodMove::Fate::kFitsLater:
      return fmt::format("waits, then fits on {}", move.node);
    case PodMove::Fate::kPending:
      return "stays pending: " + move.why;
    case PodMove::Fate::kEnds:
      return "runs until it ends";
    case PodMove::Fate::kNotRecreated:
      return "is lost: no controller creates it again";
    case PodMove::Fate::kRequeued:
      return "ends: " + move.why;
  }
  return "";
}

// Groups pods with the same fate in one row if there are many.
std::vector<PodRow> rows_of(const std::vector<PodMove>& pods) {
  std::vector<PodRow> rows;
  for (const PodMove& move : pods) {
    const std::string fate = told(move);
    auto same = std::ranges::find_if(rows, [&](const PodRow& row) {
      return pods.size() > kEachPod && row.requests == move.requests && row.fate == fate;
    });
    if (same == rows.end())
      rows.push_back({.pods = move.pod, .requests = move.requests, .fate = fate, .count = 1});
    else
      ++same->count;
  }
  for (PodRow& row : rows)
    if (row.count > 1) row.pods += fmt::format(" and {} more", row.count - 1);
  return rows;
}

void print_pods(const NodeChange& node, std::size_t indent, Out out) {
  const std::vector<PodRow> rows = rows_of(node.pods);
  const std::size_t name = widest(rows, [](const PodRow& row) { return row.pods.size(); });
  const std::size_t asks = widest(rows, [](const PodRow& row) { return row.requests.size(); });
  for (const PodRow& row : rows)
    tell(out, "{:{}}{:<{}}  {:<{}}  {}\n", "", indent, row.pods, name, row.requests, asks,
         row.fate);
}

bool same_kind(const NodeChange& a, const NodeChange& b) {
  return a.pods.empty() && b.pods.empty() && a.from == b.from && a.to == b.to &&
         a.outcome == b.outcome && a.was_out == b.was_out;
}

std::string change_of(const NodeChange& node) {
  std::string text = fmt::format("{} → {}", node.from.empty() ? "(none)" : node.from, node.to);
  if (node.outcome == NodeChange::Outcome::kPutBack)
    text = "drained without success, returned unchanged";
  if (node.outcome == NodeChange::Outcome::kUnfinished) text += "  (not finished)";
  if (node.was_out) text += "  (stays cordoned, as it was before)";
  return text;
}

void print_under_way(const Projection& p, Out out) {
  if (p.under_way.empty()) return;
  tell(out, "\nUnder way\n");
  const std::size_t name = widest(p.under_way, [](const NodeChange& n) { return n.node.size(); });
  for (const NodeChange& node : p.under_way) {
    tell(out, "  {:<{}}  {}\n", node.node, name, tell_under_way(node, p.begin));
    print_pods(node, 7, out);
  }
}

void print_nodes(const Projection& p, Out out) {
  if (p.nodes.empty()) return;
  std::vector<std::string> limits;
  for (const LayoutSummary& layout : p.layouts)
    limits.push_back(p.layouts.size() == 1
                         ? fmt::format("at most {} unavailable", layout.budget)
                         : fmt::format("{}: at most {} unavailable", layout.name, layout.budget));
  if (p.policy && p.policy->windows && p.policy->windows->next_opening)
    limits.push_back("none before " + format_time(*p.policy->windows->next_opening));
  tell(out, "\nNodes in order ({})\n", fmt::format("{}", fmt::join(limits, ", ")));

  const std::size_t digits = std::to_string(p.nodes.size()).size();
  const std::size_t name = widest(p.nodes, [](const NodeChange& n) { return n.node.size(); });
  for (std::size_t i = 0; i < p.nodes.size();) {
    std::size_t end = i + 1;
    if (p.nodes.size() > kEachNode)
      while (end < p.nodes.size() && same_kind(p.nodes[i], p.nodes[end])) ++end;
    if (end - i > 2) {
      std::vector<std::string> names;
      for (std::size_t j = i; j < end; ++j) names.push_back(p.nodes[j].node);
      tell(out, "  {}-{}  {}  {}\n", i + 1, end, name_some(names), change_of(p.nodes[i]));
    } else {
      end = i + 1;
      tell(out, "  {:>{}}  {:<{}}  {}\n", end, digits, p.nodes[i].node, name,
           change_of(p.nodes[i]));
      print_pods(p.nodes[i], digits + 6, out);
    }
    i = end;
  }
}

void print_budgets(const Projection& p, Out out) {
  if (p.budgets.empty()) return;
  tell(out,
       "\nPodDisruptionBudgets that may block (by their status; the API server was not asked)\n");
  for (const BudgetInTheWay& budget : p.budgets)
    tell(out, "  {}  allows {}: {} on {}\n", budget.budget,
         plural(static_cast<std::size_t>(std::max(0, budget.disruptions_allowed)), "disruption"),
         budget.pods.size() <= 3 ? fmt::format("{}", fmt::join(budget.pods, ", "))
                                 : plural(budget.pods.size(), "pod"),
         name_some(budget.nodes));
}

void print_capacity(const Projection& p, Out out) {
  if (p.capacity.empty() || (p.nodes.empty() && p.under_way.empty())) return;
  const std::string_view title = "Capacity in service";
  const std::size_t name = std::max(
      title.size(), widest(p.capacity, [](const CapacityRow& r) { return r.resource.size() + 2; }));
  tell(out, "\n{:<{}}  {:>8}{:>8}{:>8}\n", title, name, "before", "lowest", "after");
  for (const CapacityRow& row : p.capacity) {
    tell(out, "  {:<{}}  {:>8}{:>8}{:>8}", row.resource, name - 2, row.before, row.lowest,
         row.after);
    if (row.min_available) tell(out, "  at least {} guarded", *row.min_available);
    if (row.retired) tell(out, "  to be retired");
    tell(out, "\n");
  }
}

void print_refusals(const Projection& p, Out out) {
  if (p.refusals.empty()) return;
  tell(out, "\nRefused or waiting\n");
  for (const Refusal& refusal : p.refusals) {
    tell(out, "  {}: {}\n    {}\n",
         refusal.nodes.empty() ? "MIGLayout/" + refusal.layout : name_some(refusal.nodes),
         refusal.cause.reason, refusal.cause.message);
    if (!refusal.line.empty())
      tell(out, "    add to spec of MIGLayout/{}:  {}\n", refusal.layout, refusal.line);
  }
}

}  // namespace

std::string print_text(const Projection& projection) {
  std::string text;
  const Out out = std::back_inserter(text);
  if (projection.queues_alone) return print_text(*projection.queues);
  print_summary(projection, out);
  if (projection.policy) text += print_text(*projection.policy);
  for (const LayoutSummary& layout : projection.layouts) print_layout(layout, out);
  print_objects(projection, out);
  print_agent_switch(projection, out);
  print_under_way(projection, out);
  print_nodes(projection, out);
  print_budgets(projection, out);
  print_capacity(projection, out);
  print_refusals(projection, out);
  if (!projection.stopped.empty())
    tell(out, "\nThe projection stopped early: {}.\n", projection.stopped);
  if (projection.queues && (projection.queues->changes() || !projection.queues->asked.empty()))
    text += "\n" + print_text(*projection.queues);
  return text;
}

}  // namespace berth
