// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/transcript.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apis/codec/decode.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

// A berth log line for the transcript: its start, its text there, and the field to add.
struct Told {
  std::string_view line;
  std::string_view text;
  std::string_view field;
};
constexpr std::array<Told, 10> kLog = {{
    {"working ", "leads, epoch ", "epoch"},
    {"standing by", "waits for the lease, which is still held by ", "leader"},
    {"lease lost to another", "lost its lease to ", "leader"},
    {"lease lost: not renewed in time", "lost its lease: it could not renew it in time", ""},
    {"lease released", "releases its lease", ""},
    {"guard refused", "checks once more and holds back: ", "refusal"},
    {"ending", "ends: ", "why"},
    {"webhook certificates can't be kept", "can't keep the webhook's certificates: ", "error"},
    {"webhook certificates", "certificates: ", "step"},
    {"the API server does not serve what berth needs",
     "cannot begin: the API server does not serve ", "missing"},
}};

// "/api/v1/namespaces/team-a/pods/chat-1/eviction?…" → {"team-a", "chat-1"}; empty if it is none.
std::pair<std::string, std::string> evicted_pod(const HttpRequest& request) {
  constexpr std::string_view kPrefix = "/api/v1/namespaces/";
  constexpr std::string_view kPods = "/pods/";
  const std::string_view target = request.target;
  const std::size_t pods = target.find(kPods);
  const std::size_t end = target.find("/eviction");
  if (!target.starts_with(kPrefix) || pods == target.npos || end == target.npos) return {};
  return {std::string(target.substr(kPrefix.size(), pods - kPrefix.size())),
          std::string(target.substr(pods + kPods.size(), end - pods - kPods.size()))};
}

template <class T>
std::optional<T> slice_of(const sim::ObjectPtr& object) {
  if (object == nullptr) return std::nullopt;
  std::string text = sim::to_text(*object);
  Result<T> slice = decode_object<T>(text);
  if (!slice) return std::nullopt;
  return *std::move(slice);
}

}  // namespace

std::string format(const TranscriptEntry& entry) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(entry.at).count();
  return fmt::format("{:02}:{:02}:{:02}  {:<18}  {}", seconds / 3600, seconds / 60 % 60,
                     seconds % 60, entry.subject, entry.text);
}

Transcript::Transcript(ScenarioRun& run, std::function<void(const TranscriptEntry&)> on_entry)
    : run_(run), on_entry_(std::move(on_entry)) {
  run_.simulation().store().observe([this](const sim::Change& change) {
    hand_over(elapsed() - kHeld);
    for (StoryLine& line : tell(change, run_.simulation().store(), run_.scenario().settings))
      add(std::move(line.subject), std::move(line.text));
  });
  run_.on_told = [this](const Incidents::Told& told) { add(told.subject, told.text); };
  for (BerthProcess* berth : run_.processes()) {
    berth->on_log = [this, process = berth](LogLevel, const std::string& line) {
      if (process->running()) hear_log(process->name(), line);  // dead processes write no lines
    };
    berth->faults.on_reply = [this, before = berth->faults.on_reply](const HttpRequest& request,
                                                                     int code) {
      hear_refusal(request, code);
      if (before) before(request, code);
    };
  }
}

Transcript::~Transcript() {
  run_.on_told = nullptr;
  for (BerthProcess* berth : run_.processes()) {
    berth->on_log = nullptr;
    berth->faults.on_reply = nullptr;
  }
}

void Transcript::add(std::string subject, std::string text) {
  if (std::exchange(latest_[subject], text) == text) return;
  const std::chrono::milliseconds at = elapsed();
  hand_over(at - kHeld);
  // A node's resources change one by one: only the last line counts.
  if (text.starts_with(kOffers))
    std::erase_if(held_, [&](const TranscriptEntry& entry) {
      return entry.subject == subject && entry.text.starts_with(kOffers);
    });
  held_.push_back({at, std::move(subject), std::move(text)});
}

std::chrono::milliseconds Transcript::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(run_.elapsed());
}

void Transcript::hand_over(std::chrono::milliseconds until) {
  for (; !held_.empty() && held_.front().at <= until; held_.pop_front()) {
    entries_.push_back(std::move(held_.front()));
    if (on_entry_) on_entry_(entries_.back());
  }
}

void Transcript::finish() { hand_over(std::chrono::milliseconds::max()); }

// A value ends at the next field.
void Transcript::hear_log(const std::string& berth, const std::string& line) {
  for (const Told& told : kLog) {
    if (!line.starts_with(told.line)) continue;
    const std::size_t field =
        told.field.empty() ? line.npos : line.find(fmt::format(" {}=", told.field));
    if (field == line.npos) return add(berth, std::string(told.text));
    const std::size_t begin = line.find('=', field) + 1;
    const std::size_t next = line.find('=', begin);
    const std::size_t end = next == line.npos ? line.size() : line.rfind(' ', next);
    return add(berth, fmt::format("{}{}", told.text, line.substr(begin, end - begin)));
  }
}

// A budget's refusals of real and of dry-run evictions. Reported once per pod, because berth
// repeats them.
void Transcript::hear_refusal(const HttpRequest& request, int code) {
  if (code != 429 && code != 500) return;
  const auto [namespace_, pod] = evicted_pod(request);
  if (pod.empty() || !refused_.insert(namespace_ + "/" + pod).second) return;
  const std::string budgets = budgets_of(namespace_, pod);
  add(namespace_ + "/" + pod, budgets.empty()
                                  ? fmt::format("may not be evicted now ({})", code)
                                  : fmt::format("may not be evicted now, says {}", budgets));
}

std::string Transcript::budgets_of(const std::string& namespace_, const std::string& pod) const {
  const sim::Store& store = run_.simulation().store();
  const auto slice = slice_of<Pod>(store.find({sim::find_resource_type("pods"), namespace_, pod}));
  if (!slice) return "";
  std::string text;
  for (const sim::ObjectPtr& object :
       store.list(*sim::find_resource_type("poddisruptionbudgets"), namespace_)) {
    const auto budget = slice_of<PodDisruptionBudget>(object);
    if (!budget || !budget->selects(*slice)) continue;
    text += fmt::format("{}PodDisruptionBudget {}/{} ({} of {} pods needed are healthy)",
                        text.empty() ? "" : " and ", namespace_, budget->meta.name,
                        budget->current_healthy, budget->desired_healthy);
  }
  return text;
}

}  // namespace berth
