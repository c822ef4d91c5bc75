// SPDX-License-Identifier: Apache-2.0
#include "controller/sampling/sampler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apis/base/reasons.h"
#include "controller/fleet/pools.h"
#include "controller/observe/nodes_to_ask.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLookAgain = 2s;  // until it leads and has a policy
constexpr std::chrono::nanoseconds kShortest = 1s;   // pause after a round, however long that took

}  // namespace

Sampler::Sampler(Parts parts, const Settings& settings)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      agents_namespace_(settings.agents_namespace),
      prometheus_(parts_.client, parts_.connect, settings.berth_namespace,
                  settings.prometheus_token_url),
      exporters_(loop_, parts_.cluster, parts_.connect, settings.agents_namespace) {}

Task<void> Sampler::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const GPUClusterPolicy* policy = parts_.acts() ? find_policy(parts_.cluster) : nullptr;
    if (policy == nullptr) {
      parts_.samples = Samples();
      co_await sleep_for(kLookAgain, stop);
      continue;
    }
    const GPUClusterPolicySpec spec = policy->spec;
    const MonotonicTime start = loop_.now();
    co_await measure(spec, stop);
    const std::chrono::nanoseconds left = start + spec.metrics.interval - loop_.now();
    co_await sleep_for(std::max(left, kShortest), stop);
  }
}

Task<void> Sampler::measure(GPUClusterPolicySpec spec, std::stop_token stop) {
  // Publish a round only when it is complete, with the exporters' confirmations.
  Samples samples = parts_.samples;
  const SamplingWindow window{.now = parts_.client.wall_now(),
                              .interval = spec.metrics.interval,
                              .grace = spec.idle.grace_period,
                              .threshold = spec.idle.utilization_threshold};
  // Also read Prometheus' history if berth has not measured yet, has not measured for too long, or
  // has judged by another threshold.
  const bool with_history = !samples.measured_at ||
                            window.now - *samples.measured_at > samples.lasts() ||
                            samples.threshold != window.threshold;
  Round round(parts_.cluster, agents_namespace_);
  std::optional<Cause> trouble;
  SeriesMatch match;
  samples.second_hand = spec.metrics.prometheus.has_value();
  if (samples.second_hand) {
    match = series_match(*spec.metrics.prometheus, agents_namespace_);
    trouble = co_await prometheus_.fetch(*spec.metrics.prometheus, match, window, with_history,
                                         round, stop);
  } else {
    trouble = co_await exporters_.fetch(round, stop);
  }
  if (stop.stop_requested()) co_return;
  if (!trouble && !round.lie().empty())
    trouble = Cause{reasons::kSeriesImplausible, round.lie() + ", and is not believed"};
  const FoldRules rules{.now = window.now,
                        .interval = window.interval,
                        .threshold = window.threshold,
                        .max_temperature = spec.health.max_temperature};
  fold(round, parts_.cluster, rules, samples);
  samples.ignored = round.ignored().told(describe_match(match));
  samples.trouble = std::move(trouble);
  if (samples.second_hand)
    co_await ask_exporters(spec, rules, samples, stop);
  else
    samples.witnesses.clear();
  if (stop.stop_requested()) co_return;
  parts_.samples = std::move(samples);
  log_trouble();
  parts_.on_round();
}

Task<void> Sampler::ask_exporters(GPUClusterPolicySpec spec, FoldRules rules, Samples& samples,
                                  std::stop_token stop) {
  Round round(parts_.cluster, agents_namespace_);
  const ExporterSource::Silences silences =
      co_await exporters_.ask(nodes_to_ask(parts_.cluster, samples, spec), round, stop);
  fold_witnesses(round, silences, parts_.cluster, rules, samples);
}

void Sampler::log_trouble() {
  const std::optional<Cause>& trouble = parts_.samples.trouble;
  std::string now = trouble ? trouble->reason : std::string();
  if (std::exchange(logged_, now) == now) return;
  if (trouble)
    parts_.log.warn("GPUs are not measured as they should be",
                    {{"reason", trouble->reason}, {"error", trouble->message}});
  else
    parts_.log.info("GPUs are measured", {{"nodes", parts_.samples.nodes.size()}});
}

}  // namespace berth
