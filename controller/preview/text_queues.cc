// SPDX-License-Identifier: Apache-2.0
// Outline: one summary line; each workload in the manifests and its effect on others; each given or
// changed queue; other workloads whose verdict changes; the namespaces' defaults.
#include "controller/preview/text_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "controller/core/plural.h"
#include "controller/preview/tell.h"
#include "controller/preview/words.h"
#include "controller/queue/facts/facts.h"

namespace berth {
namespace {

using Out = std::back_insert_iterator<std::string>;

// The most workloads to name; the others are counted.
constexpr std::size_t kEachStart = 10;
constexpr std::size_t kEachWait = 10;

std::string pool_words(const std::string& pool) {
  return pool == queue::kAnyPool ? "any pool" : "pool " + pool;
}

bool differs(const QueueSummary& queue) {
  return std::ranges::any_of(queue.quotas,
                             [](const QuotaChange& row) { return row.before != row.after; });
}

void print_summary(const QueueOutlook& outlook, Out out) {
  std::int64_t starts = 0, waits = 0, written = 0;
  for (const QueueSummary& queue : outlook.queues) {
    starts += static_cast<std::int64_t>(queue.starts.size());
    waits += queue.pending - static_cast<std::int64_t>(queue.starts.size());
    written += queue.created || queue.edited || queue.deleted ? 1 : 0;
  }
  tell(out, "Queues: {} to write. {} would start, {} {}; the answer changes for {}.\n", written,
       plural(starts, "workload"), waits, word_for(waits, "waits", "wait"),
       outlook.outcomes.size());
}

void print_advice(const QueueAdvice& advice, Out out) {
  if (!advice.message.empty()) tell(out, "  what to do: {}\n", advice.message);
  if (!advice.line.empty()) tell(out, "    {}\n", advice.line);
}

void print_place(const AskedWorkload& asked, Out out) {
  const std::int64_t before = asked.verdict.position - 1;
  if (before < 0) return;
  if (before == 0) return tell(out, "  first in queue {}\n", asked.verdict.queue);
  const auto named = static_cast<std::int64_t>(asked.behind.size());
  tell(out, "  place {} in queue {}, behind {}{}\n", asked.verdict.position, asked.verdict.queue,
       fmt::format("{}", fmt::join(asked.behind, ", ")),
       before > named ? fmt::format(" and {} more", before - named) : "");
}

void print_where(const QueuePlace& place, Out out) {
  for (const std::string& line : {where(place), why_not_narrower(place)})
    if (!line.empty()) tell(out, "  {}\n", line);
}

void print_displaced(const QueueVerdict& verdict, Out out) {
  for (const DisplacedWork& displaced : verdict.displaced) tell(out, "  {}\n", describe(displaced));
  if (!verdict.displaced.empty()) tell(out, "  {}\n", when_room_is_back(verdict.ended));
}

void print_asked(const AskedWorkload& asked, Out out) {
  const QueueVerdict& verdict = asked.verdict;
  if (verdict.admissible())
    tell(out, "\n{}: would be admitted to queue {}, in {}\n", asked.workload, verdict.queue,
         pool_words(verdict.pool));
  else if (!verdict.queue.empty() && !verdict.reason.empty())
    tell(out, "\n{}: would wait in queue {}: {}\n  {}\n", asked.workload, verdict.queue,
         verdict.reason, verdict.message);
  else if (!verdict.queue.empty())
    tell(out, "\n{}: of queue {}\n  {}\n", asked.workload, verdict.queue, verdict.message);
  else
    tell(out, "\n{}: in no queue: {}\n  {}\n", asked.workload, verdict.reason, verdict.message);
  print_where(verdict.place, out);
  print_displaced(verdict, out);
  print_place(asked, out);
  if (!asked.begins.empty()) tell(out, "  {}\n", asked.begins);
  print_advice(asked.advice, out);
}

void print_cost(const QueueOutlook& outlook, Out out) {
  const auto queues = [](const AskedWorkload& each) { return each.verdict.position > 0; };
  if (std::ranges::none_of(outlook.asked, queues)) return;
  std::vector<const OutcomeChange*> losers;
  for (const OutcomeChange& change : outlook.outcomes)
    if (change.loses_start()) losers.push_back(&change);
  if (losers.empty())
    return tell(out, "\nNothing that would start without it would have to wait for it.\n");
  tell(out, "\nWould start without it, and would have to wait then\n");
  for (std::size_t i = 0; i < losers.size() && i < kEachWait; ++i) {
    const OutcomeChange& change = *losers[i];
    tell(out, "  {} of queue {}: {}\n", change.workload, change.was->queue,
         change.now ? fmt::format("{}: {}", change.now->reason, change.now->message)
                    : "in no queue any more");
  }
  if (losers.size() > kEachWait) tell(out, "  and {} more\n", losers.size() - kEachWait);
}

// "8 → 16" if it changes.
std::string cell(const QuotaChange& row, std::string QuotaNumbers::*field) {
  if (!row.before) return (*row.after).*field;
  if (!row.after) return (*row.before).*field + " → none";
  const std::string &before = (*row.before).*field, &after = (*row.after).*field;
  return before == after ? after : before + " → " + after;
}

// In characters: an arrow is one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

void print_quotas(const QueueSummary& queue, Out out) {
  std::vector<std::array<std::string, 6>> rows{
      {"quota", "pool", "nominal", "used", "borrowed", "pending"}};
  for (const QuotaChange& row : queue.quotas)
    rows.push_back({row.resource, row.pool, cell(row, &QuotaNumbers::nominal),
                    cell(row, &QuotaNumbers::used), cell(row, &QuotaNumbers::borrowed),
                    cell(row, &QuotaNumbers::pending)});
  if (rows.size() == 1) return;
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]), ' ');
    }
    tell(out, "{}\n", line);
  }
}

void print_starts(const QueueSummary& queue, Out out) {
  if (queue.starts.empty()) return;
  tell(out, "  would start\n");
  for (std::size_t i = 0; i < queue.starts.size() && i < kEachStart; ++i) {
    const QueueVerdict& verdict = queue.starts[i].verdict;
    const std::string there = where(verdict.place);
    tell(out, "    {} in {}{}{}\n", queue.starts[i].workload, pool_words(verdict.pool),
         there.empty() ? "" : " ", there);
    for (const DisplacedWork& displaced : verdict.displaced)
      tell(out, "      {}\n", describe(displaced));
  }
  if (queue.starts.size() > kEachStart)
    tell(out, "    and {} more\n", queue.starts.size() - kEachStart);
}

// The oldest workloads by name, in their queue's order; the others by reason.
void print_waits(const QueueSummary& queue, Out out) {
  if (queue.waits.empty()) return;
  tell(out, "  wait, with their place in the queue\n");
  std::map<std::string, std::int64_t> others = queue.reasons;
  std::vector<QueuedWorkload> oldest = queue.waits;
  if (oldest.size() > kEachWait) oldest.resize(kEachWait);
  std::ranges::sort(oldest, {}, [](const QueuedWorkload& w) { return w.verdict.position; });
  for (const auto& [workload, verdict] : oldest) {
    --others[verdict.reason];
    tell(out, "    {:>3}. {}: {}: {}\n", verdict.position, workload, verdict.reason,
         verdict.message);
  }
  std::vector<std::string> counts;
  for (const auto& [reason, count] : others)
    if (count > 0) counts.push_back(fmt::format("{} {}", count, reason));
  if (!counts.empty()) tell(out, "    and {}\n", fmt::format("{}", fmt::join(counts, ", ")));
}

// Its workloads are no longer counted or started.
void print_deleted(const QueueSummary& queue, Out out) {
  tell(out, "\nGPUQueue/{} (deleted)\n", queue.name);
  if (queue.admitted > 0)
    tell(out, "  {} that it has admitted {} on, and no quota counts {}\n",
         plural(queue.admitted, "workload"), word_for(queue.admitted, "runs", "run"),
         word_for(queue.admitted, "it", "them"));
  if (queue.pending > 0)
    tell(out,
         "  {} {} without a queue, until a GPUQueue of this name is there or berth release starts "
         "{}\n",
         plural(queue.pending, "workload"), word_for(queue.pending, "waits", "wait"),
         word_for(queue.pending, "it", "them"));
}

void print_queue(const QueueSummary& queue, Out out) {
  if (queue.deleted) return print_deleted(queue, out);
  tell(out, "\nGPUQueue/{} ({}){}: {} admitted\n", queue.name,
       queue.created  ? "created"
       : queue.edited ? "edited"
                      : "unchanged",
       queue.cohort.empty() ? "" : ", cohort " + queue.cohort, plural(queue.admitted, "workload"));
  if (queue.trouble) tell(out, "  {}: {}\n", queue.trouble->reason, queue.trouble->message);
  if (!queue.namespaces.empty())
    tell(out, "  selects {} {}\n",
         word_for(static_cast<std::int64_t>(queue.namespaces.size()), "namespace", "namespaces"),
         name_some(queue.namespaces, "namespace"));
  for (const std::string& note : queue.notes) tell(out, "  note: {}\n", note);
  print_quotas(queue, out);
  print_starts(queue, out);
  print_waits(queue, out);
}

std::string told(const std::optional<QueueVerdict>& verdict) {
  if (!verdict) return "in no queue";
  return fmt::format("{}, queue {}{}", verdict->reason, verdict->queue,
                     verdict->admissible() ? ", " + pool_words(verdict->pool) : "");
}

// Workloads with the same change share a line, in the order of the first one.
void print_outcomes(const QueueOutlook& outlook, Out out) {
  std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> groups;
  for (const OutcomeChange& change : outlook.outcomes) {
    const std::string was = told(change.was), now = told(change.now);
    auto group = std::ranges::find_if(
        groups, [&](const auto& g) { return std::get<0>(g) == was && std::get<1>(g) == now; });
    if (group == groups.end()) group = groups.insert(groups.end(), {was, now, {}});
    std::get<2>(*group).push_back(change.workload);
  }
  if (!groups.empty()) tell(out, "\nWhat changes for whom\n");
  for (const auto& [was, now, workloads] : groups)
    tell(out, "  {}\n    was {}; now {}\n", name_some(workloads, "workload"), was, now);
}

void print_defaults(const QueueOutlook& outlook, Out out) {
  if (!outlook.defaults.empty()) tell(out, "\nDefault queues of namespaces\n");
  const auto name = [](const std::string& queue) { return queue.empty() ? "none" : queue; };
  for (const DefaultChange& change : outlook.defaults)
    tell(out, "  {}: {} → {}\n", change.namespace_, name(change.was), name(change.now));
}

}  // namespace

std::string print_text(const QueueOutlook& outlook) {
  std::string text;
  const Out out = std::back_inserter(text);
  if (!outlook.changes() && outlook.asked.empty()) {
    tell(out, "Nothing to do: the queues stand as these files say.\n");
  } else {
    print_summary(outlook, out);
  }
  for (const AskedWorkload& asked : outlook.asked) print_asked(asked, out);
  print_cost(outlook, out);
  for (const QueueSummary& queue : outlook.queues)
    if (queue.given || queue.edited || queue.deleted || differs(queue)) print_queue(queue, out);
  print_outcomes(outlook, out);
  print_defaults(outlook, out);
  return text;
}

}  // namespace berth
