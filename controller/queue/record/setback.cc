// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/setback.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/flat_json.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/backoff.h"

namespace berth::queue {
namespace {

// If the last setback was the final one, a user has changed the Job since, as it runs again. So the
// count starts again at 1.
Setback next_setback(const berth::Job& job, Time now) {
  const auto before = setback_on(job.meta);
  const bool goes_on = before && before->times < kMostSetbacks;
  Setback next{.times = goes_on ? before->times + 1 : 1, .generation = job.meta.generation + 1};
  if (next.times < kMostSetbacks)
    next.until = std::chrono::ceil<std::chrono::seconds>(now + backoff_after(next.times));
  return next;
}

Write write_of(const berth::Job& job, const MergePatch& patch, std::string reason) {
  return {.verb = Verb::kMergePatch,
          .object = ref_of(job),
          .body = patch.str(),
          .field_manager = names::kManagerQueue,
          .reason = std::move(reason)};
}

}  // namespace

std::string encode_setback(const Setback& setback) {
  std::string text =
      fmt::format(R"({{"times":{},"generation":{})", setback.times, setback.generation);
  if (setback.until) text += fmt::format(R"(,"until":"{}")", format_time(*setback.until));
  return text + '}';
}

std::optional<Setback> decode_setback(std::string_view text) {
  auto json = FlatJson::parse(text);
  if (!json) return std::nullopt;
  Setback setback{.times = json->number("times"), .generation = json->number("generation")};
  const std::string until = json->string("until");
  if (json->wrong() || setback.times <= 0) return std::nullopt;
  if (until.empty()) return setback;
  const Result<Time> time = parse_time(until);
  if (!time) return std::nullopt;
  setback.until = *time;
  return setback;
}

std::optional<Setback> setback_on(const ObjectMeta& meta) {
  const Text* text = meta.annotations.find(names::kNeverReadyAnnotation);
  return text == nullptr ? std::nullopt : decode_setback(text->view());
}

std::int64_t setbacks_that_hold(const berth::Job& job) {
  const auto setback = setback_on(job.meta);
  if (!setback || !job.suspended || setback->generation != job.meta.generation) return 0;
  return setback->until || setback->times >= kMostSetbacks ? setback->times : 0;
}

Write set_back(const berth::Job& job, Time now) {
  const Setback next = next_setback(job, now);
  MergePatch patch = MergePatch::same_version(job.meta);
  patch.field("spec", R"({"suspend":true})");
  if (!seeded(SeededBug::kForgetSetbacks))
    patch.annotation(names::kNeverReadyAnnotation, encode_setback(next));
  return write_of(job, patch,
                  fmt::format("not all of its pods were Ready in time, {} of {} times", next.times,
                              kMostSetbacks));
}

Write end_backoff(const berth::Job& job) {
  Setback setback = *setback_on(job.meta);
  setback.until.reset();
  MergePatch patch = MergePatch::same_version(job.meta);
  patch.annotation(names::kNeverReadyAnnotation, encode_setback(setback));
  return write_of(job, patch, "it has waited long enough to be tried again");
}

Write forget_setbacks(const berth::Job& job) {
  MergePatch patch = MergePatch::same_version(job.meta);
  patch.without_annotation(names::kNeverReadyAnnotation);
  return write_of(job, patch, "all of its pods have been Ready");
}

}  // namespace berth::queue
