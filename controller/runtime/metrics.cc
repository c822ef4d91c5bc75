// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "controller/runtime/outcome.h"

namespace berth {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;
using Buckets = Histogram::BucketBoundaries;

double seconds(std::chrono::nanoseconds span) { return static_cast<double>(span.count()) * 1e-9; }

// The same buckets as client-go: 10 ns × 10^n.
const Buckets& queue_buckets() {
  static const Buckets buckets{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100};
  return buckets;
}
const Buckets& request_buckets() {
  static const Buckets buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  return buckets;
}
const Buckets& compute_buckets() {
  static const Buckets buckets{1e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.5, 1};
  return buckets;
}
const Buckets& review_buckets() {
  static const Buckets buckets{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.1, 1};
  return buckets;
}

Family<Counter>& counter(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Gauge>& gauge(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Family<Histogram>& histogram(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

const std::map<std::string, std::string> kQueue{{"name", "berth"}, {"controller", "berth"}};
constexpr std::size_t kInformerEvents = static_cast<std::size_t>(InformerEvent::kStale) + 1;

// For the work queue; a webhook has none.
struct QueueSeries {
  explicit QueueSeries(Registry& registry);

  Gauge& depth;
  Counter& adds;
  Counter& retries;
  Histogram& waited;
  Histogram& worked;
  Gauge& unfinished;
  Gauge& longest;
};

QueueSeries::QueueSeries(Registry& registry)
    : depth(gauge(registry, "workqueue_depth", "Current depth of the work queue.").Add(kQueue)),
      adds(counter(registry, "workqueue_adds_total", "Keys added to the work queue.").Add(kQueue)),
      retries(counter(registry, "workqueue_retries_total", "Keys added again after a failure.")
                  .Add(kQueue)),
      waited(histogram(registry, "workqueue_queue_duration_seconds",
                       "Seconds that a key waits in the work queue before it is processed.")
                 .Add(kQueue, queue_buckets())),
      worked(histogram(registry, "workqueue_work_duration_seconds",
                       "Seconds that processing a key takes, including its writes.")
                 .Add(kQueue, queue_buckets())),
      unfinished(gauge(registry, "workqueue_unfinished_work_seconds",
                       "Seconds of processing in progress, summed over all unfinished keys.")
                     .Add(kQueue)),
      longest(gauge(registry, "workqueue_longest_running_processor_seconds",
                    "Seconds that the key longest in progress has been processed.")
                  .Add(kQueue)) {}

prometheus::MetricFamily to_family(const Figure& figure) {
  prometheus::MetricFamily family;
  family.name = figure.name;
  family.help = figure.help;
  family.type = prometheus::MetricType::Gauge;
  for (const Figure::Sample& sample : figure.samples) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
    metric.gauge.value = sample.value;
  }
  return family;
}

}  // namespace

struct Metrics::Registered {
  // Counters per informer, so that an event needs no lookup of labels.
  struct OfInformer {
    std::array<Counter*, kInformerEvents> events{};
    std::map<InformerState, Gauge*> states;
    Counter* refreshes = nullptr;
    Gauge* objects = nullptr;
  };

  Registry registry;
  Family<Gauge>& informer_state =
      gauge(registry, "berth_informer_state",
            "1 for the informer's current state, 0 for its other states.");
  Family<Gauge>& informer_objects =
      gauge(registry, "berth_informer_objects", "Objects in the informer's cache.");
  Family<Counter>& informer_relists = counter(registry, "berth_informer_relists_total",
                                              "Full lists of all objects since the start.");
  Family<Counter>& informer_events =
      counter(registry, "berth_informer_events_total", "Watch events received.");
  Family<Counter>& requests = counter(registry, "rest_client_requests_total",
                                      "Requests to the API server by code and method.");
  Family<Histogram>& request_seconds =
      histogram(registry, "rest_client_request_duration_seconds",
                "Seconds from a request to the end of its reply, without watches.");
  Family<Gauge>& leading = gauge(registry, "leader_election_master_status",
                                 "1 if this process holds the lease, else 0.");
  Family<Counter>& reconciles =
      counter(registry, "berth_reconcile_total", "Reconciliations by kind of key and result.");
  Family<Histogram>& reconcile_seconds = histogram(registry, "berth_reconcile_compute_seconds",
                                                   "Seconds that computing a plan takes.");
  Family<Counter>& writes =
      counter(registry, "berth_writes_total", "Steps of plans by verb and result.");
  Family<Counter>& evictions =
      counter(registry, "berth_evictions_total",
              "Evictions, and deletions where drain.onTimeout is Force, by result.");
  Family<Counter>& reviews = counter(registry, "berth_webhook_requests_total",
                                     "AdmissionReviews by path, operation and verdict.");
  Family<Histogram>& review_seconds =
      histogram(registry, "berth_webhook_request_duration_seconds",
                "Seconds from the last byte of an AdmissionReview to its answer.");
  Family<Gauge>& page_followers =
      gauge(registry, "berth_page_followers", "Browsers that are told what changes on the page.");
  Family<Counter>& page_refusals =
      counter(registry, "berth_page_refusals_total",
              "Requests for the page's state that were refused or put off, by reason.");
  Family<Gauge>& clock_skew =
      gauge(registry, "berth_clock_skew_seconds",
            "This process' clock less the API server's, by the Date of its replies.");
  Family<Gauge>& newest_version =
      gauge(registry, "berth_newest_resource_version",
            "The newest version of the API server's history that this process has seen.");
  Family<Counter>& conflict_loops =
      counter(registry, "berth_conflict_loops_total",
              "Writes that the API server refused again and again as out of date, though the "
              "object had not changed.");
  Family<Gauge>& keeper_success =
      gauge(registry, "berth_certificates_last_success_timestamp_seconds",
            "When a check last found the webhook's certificates as they should be, Unix time.");
  Family<Gauge>& keeper_end = gauge(registry, "berth_certificates_expiration_timestamp_seconds",
                                    "Expiry of the kept certificate, as Unix time.");
  Family<Counter>& keeper_failures = counter(registry, "berth_certificates_check_failures_total",
                                             "Checks of the webhook's certificates that failed.");
  Family<Gauge>& certificate_end =
      gauge(registry, "berth_webhook_certificate_expiration_timestamp_seconds",
            "Expiry of the served certificate, as Unix time.");
  Counter& cpu =
      counter(registry, "process_cpu_seconds_total", "User and system CPU time.").Add({});
  Gauge& resident = gauge(registry, "process_resident_memory_bytes", "Resident memory.").Add({});
  Gauge& virtual_memory =
      gauge(registry, "process_virtual_memory_bytes", "Virtual memory.").Add({});
  Gauge& open_fds = gauge(registry, "process_open_fds", "Open file descriptors.").Add({});
  Gauge& max_fds = gauge(registry, "process_max_fds", "Most file descriptors allowed.").Add({});
  Gauge& start_time =
      gauge(registry, "process_start_time_seconds", "Start of the process, Unix time.").Add({});
  std::map<std::string, OfInformer, std::less<>> informers;
  std::optional<QueueSeries> of_queue;
  Figures figures;
  std::map<const Measure*, Family<Counter>*> counters;
  std::map<const Measure*, Family<Histogram>*> histograms;

  void observe(const Measure& measure, const prometheus::Labels& labels, double value) {
    if (measure.type == Measure::Type::kCounter) {
      Family<Counter>*& family = counters[&measure];
      if (family == nullptr) family = &counter(registry, measure.name, measure.help);
      return family->Add(labels).Increment(value);
    }
    Family<Histogram>*& family = histograms[&measure];
    if (family == nullptr) family = &histogram(registry, measure.name, measure.help);
    family->Add(labels, Buckets(measure.buckets.begin(), measure.buckets.end())).Observe(value);
  }
  QueueSeries& queue() { return of_queue ? *of_queue : of_queue.emplace(registry); }
  OfInformer& informer(const std::string& name) {
    const auto [it, fresh] = informers.try_emplace(name);
    OfInformer& of = it->second;
    if (!fresh) return of;
    for (std::size_t i = 0; i < kInformerEvents; ++i) {
      const char* type = to_string(static_cast<InformerEvent>(i));
      of.events[i] = &informer_events.Add({{"informer", name}, {"type", type}});
    }
    of.refreshes = &informer_relists.Add({{"informer", name}});
    of.objects = &informer_objects.Add({{"informer", name}});
    return of;
  }
};

Metrics::Metrics(std::string_view version, std::string_view commit)
    : registered_(std::make_unique<Registered>()) {
  prometheus::Labels labels{{"version", std::string(version)}};
  if (!commit.empty()) labels.emplace("commit", commit);
  gauge(registered_->registry, "berth_build_info", "1; what was built is in the labels.")
      .Add(labels)
      .Set(1);
}
Metrics::~Metrics() = default;

void Metrics::on_state(const std::string& informer, InformerState state) {
  Registered::OfInformer& of = registered_->informer(informer);
  for (auto& [_, gauge_of_state] : of.states) gauge_of_state->Set(0);
  Gauge*& current = of.states[state];
  if (current == nullptr)
    current =
        &registered_->informer_state.Add({{"informer", informer}, {"state", to_string(state)}});
  current->Set(1);
}
void Metrics::on_refresh(const std::string& informer) {
  registered_->informer(informer).refreshes->Increment();
}
void Metrics::on_event(const std::string& informer, InformerEvent event) {
  registered_->informer(informer).events[static_cast<std::size_t>(event)]->Increment();
}
void Metrics::on_objects(const std::string& informer, std::size_t count) {
  registered_->informer(informer).objects->Set(static_cast<double>(count));
}

void Metrics::on_depth(std::size_t depth) {
  registered_->queue().depth.Set(static_cast<double>(depth));
}
void Metrics::on_add() { registered_->queue().adds.Increment(); }
void Metrics::on_retry() { registered_->queue().retries.Increment(); }
void Metrics::on_start(std::chrono::nanoseconds waited) {
  registered_->queue().waited.Observe(seconds(waited));
}
void Metrics::on_done(std::chrono::nanoseconds worked) {
  registered_->queue().worked.Observe(seconds(worked));
}
void Metrics::on_unfinished(WorkQueue::Unfinished unfinished) {
  registered_->queue().unfinished.Set(seconds(unfinished.total));
  registered_->queue().longest.Set(seconds(unfinished.longest));
}

void Metrics::on_call(const CallRecord& call) {
  const std::string method(call.method);
  const std::string code = call.code == 0 ? "<error>" : std::to_string(call.code);
  registered_->requests.Add({{"code", code}, {"method", method}}).Increment();
  registered_->request_seconds.Add({{"verb", method}}, request_buckets())
      .Observe(seconds(call.took));
}
void Metrics::on_leading(const std::string& lease, bool leading) {
  registered_->leading.Add({{"name", lease}}).Set(leading ? 1 : 0);
}
void Metrics::on_reconcile(std::string_view kind, std::string_view result,
                           std::chrono::nanoseconds compute) {
  registered_->reconciles.Add({{"kind", std::string(kind)}, {"result", std::string(result)}})
      .Increment();
  registered_->reconcile_seconds.Add({{"kind", std::string(kind)}}, compute_buckets())
      .Observe(seconds(compute));
}
void Metrics::on_write(std::string_view verb, std::string_view result) {
  registered_->writes.Add({{"verb", std::string(verb)}, {"result", std::string(result)}})
      .Increment();
}
void Metrics::begin_term(const std::vector<const Measure*>& measures) {
  for (const Measure* measure : measures)
    for (const auto& [name, value] : measure->zeroes)
      registered_->observe(*measure, {{name, value}}, 0);
  for (const char* result : kEvictionResults) registered_->evictions.Add({{"result", result}});
  registered_->conflict_loops.Add({});
}
void Metrics::observe(const Measure& measure, const Figure::Labels& labels, double value) {
  registered_->observe(measure, {labels.begin(), labels.end()}, value);
}
void Metrics::on_eviction(std::string_view result) {
  registered_->evictions.Add({{"result", std::string(result)}}).Increment();
}
void Metrics::show(Figures figures) { registered_->figures = std::move(figures); }
void Metrics::on_review(std::string_view path, std::string_view operation, std::string_view verdict,
                        std::chrono::nanoseconds took) {
  registered_->reviews
      .Add({{"path", std::string(path)},
            {"operation", std::string(operation)},
            {"verdict", std::string(verdict)}})
      .Increment();
  registered_->review_seconds.Add({{"path", std::string(path)}}, review_buckets())
      .Observe(seconds(took));
}
void Metrics::on_certificate(Time not_after) {
  registered_->certificate_end.Add({}).Set(
      std::chrono::duration<double>(not_after.time_since_epoch()).count());
}
void Metrics::on_clock_skew(Duration skew) {
  registered_->clock_skew.Add({}).Set(std::chrono::duration<double>(skew).count());
}
void Metrics::on_newest_version(std::string_view version) {
  std::uint64_t number = 0;
  const auto [end, failed] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (failed != std::errc() || end != version.data() + version.size()) return;
  registered_->newest_version.Add({}).Set(static_cast<double>(number));
}
void Metrics::on_process(const ProcessFacts& facts) {
  registered_->cpu.Increment(std::max(0.0, facts.cpu_seconds - registered_->cpu.Value()));
  registered_->resident.Set(facts.resident_bytes);
  registered_->virtual_memory.Set(facts.virtual_bytes);
  registered_->open_fds.Set(facts.open_fds);
  registered_->max_fds.Set(facts.max_fds);
  registered_->start_time.Set(facts.start_time_seconds);
}

void Metrics::on_page(const PageFacts& facts) {
  registered_->page_followers.Add({}).Set(facts.followers);
  const auto raise = [this](const char* reason, double total) {
    Counter& refused = registered_->page_refusals.Add({{"reason", reason}});
    refused.Increment(std::max(0.0, total - refused.Value()));
  };
  raise("unknown_token", facts.unknown_total);
  raise("busy", facts.busy_total);
}

void Metrics::on_keeper(const KeeperFacts& facts) {
  if (facts.last_success)
    registered_->keeper_success.Add({}).Set(unix_seconds(*facts.last_success));
  const auto show_end = [this](const char* name, const std::optional<Time>& end) {
    if (end) registered_->keeper_end.Add({{"certificate", name}}).Set(unix_seconds(*end));
  };
  show_end("authority", facts.authority_end);
  show_end("serving", facts.leaf_end);
  Counter& failures = registered_->keeper_failures.Add({});
  failures.Increment(std::max(0.0, facts.failures_total - failures.Value()));
}

void Metrics::on_conflict_loop() { registered_->conflict_loops.Add({}).Increment(); }

std::string Metrics::text() const {
  const prometheus::TextSerializer serializer;
  std::vector<prometheus::MetricFamily> families = registered_->registry.Collect();
  for (const Figure& figure : registered_->figures)
    if (!figure.samples.empty()) families.push_back(to_family(figure));
  return serializer.Serialize(families);
}

}  // namespace berth
