// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/story_recorder.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "apis/codec/decode.h"
#include "apis/kinds/watched_kinds.h"
#include "controller/core/answers.h"
#include "controller/core/ended_pods.h"
#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {
namespace {

// Skips objects that berth does not read or can't decode.
template <class T>
void take(ClusterState& cluster, const sim::ObjectPtr& object, Time now) {
  std::string text = object->dump();
  Result<T> read = decode_object<T>(text);
  if (!read) return;
  if constexpr (std::is_same_v<T, Pod>)
    if (!is_looked_at(*read)) {
      cluster.erase<T>(read->meta.namespace_.view(), read->meta.name);
      return;
    }
  cluster.upsert(*std::move(read), now);
}

void take(ClusterState& cluster, const sim::Change& change, Time now) {
  Watched::each([&]<class T>() {
    if (change.key.type->plural != kKind<T>.plural || change.key.type->group != kKind<T>.group)
      return;
    if (change.kind == sim::Change::Kind::kDeleted)
      cluster.erase<T>(change.key.namespace_, change.key.name);
    else
      take<T>(cluster, change.after, now);
  });
}

}  // namespace

void StoryRecorder::follow(ScenarioRun& run) {
  run_ = &run;
  sim::Store& store = run.simulation().store();
  now_ = run.simulation().clock().wall();
  Watched::each([&]<class T>() {
    const sim::ResourceType* type = sim::find_resource_type(kKind<T>.plural);
    if (type == nullptr || type->group != kKind<T>.group) return;
    for (const sim::ObjectPtr& object : store.list(*type)) take<T>(cluster_, object, now_);
  });
  store.observe([this](const sim::Change& change) { see(change); });
  story_.emplace(title_, state());
}

// Lines for changes of this age have all arrived, so those changes no longer wait.
void StoryRecorder::see(const sim::Change& change) {
  if (!coming_.empty()) catch_up(coming_.back().at - Transcript::kHeld);
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(run_->elapsed());
  coming_.push_back({at, run_->simulation().clock().wall(), change});
}

void StoryRecorder::catch_up(std::chrono::milliseconds until) {
  for (; !coming_.empty() && coming_.front().at < until; coming_.pop_front()) {
    now_ = coming_.front().when;
    take(cluster_, coming_.front().change, now_);
  }
}

void StoryRecorder::hear(const TranscriptEntry& entry) {
  if (story_->wants_frame(entry.at)) {
    catch_up(entry.at);
    story_->end_frame(state());
  }
  story_->tell(entry.at, entry.subject, entry.text);
}

std::string StoryRecorder::print() {
  catch_up(std::chrono::milliseconds::max());
  story_->end_frame(state());
  return story_->print();
}

PageState StoryRecorder::state() const {
  const Answers answers;
  return page_state({.cluster = cluster_,
                     .answers = answers,
                     .settings = scenario_.settings,
                     .now = now_,
                     .offline = true,
                     .zones = *scenario_.zones},
                    no_clues());
}

}  // namespace berth
