// SPDX-License-Identifier: Apache-2.0
// rollout_bench: the time berth itself adds to a node's way. The real shell and the real core run a
// rollout over 2,000 watched nodes against an API server in memory, whose own time is taken off;
// the bench plays kubelets, node agents and heartbeats. From the bytes of the fact that a node
// waited for (its cordon seen, its last pod gone, its agent done) to the request of the write that
// follows, guards' live reads included. Settling times are zero, so that nothing waits on purpose.
// Prints one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "bench/fleet.h"
#include "bench/memory_api.h"
#include "controller/live/uv_loop.h"
#include "controller/reconcilers/reconcilers.h"
#include "controller/runtime/controller.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::size_t kNodesToRollOut = 150;
constexpr auto kGiveUpAfter = 240s;
constexpr auto kHeartbeatEvery = 5ms;  // one node after the other
constexpr auto kPodTakes = 2ms;        // to leave, once evicted
constexpr auto kAgentTakes = 3ms;

class ErrorsOnly : public Log {
 public:
  void write(LogLevel level, std::string_view message,
             std::initializer_list<Field> fields) override {
    if (level < LogLevel::kWarn) return;
    fmt::print(stderr, "rollout_bench: {}", message);
    for (const auto& [key, value] : fields) fmt::print(stderr, " {}={}", key, value.text);
    fmt::print(stderr, "\n");
  }
};

// The cluster beside berth, and the stop-watch.
class Rollout {
 public:
  explicit Rollout(UvLoop& loop)
      : loop_(loop),
        api_(loop,
             {.on_leaving = [this](const HttpRequest& r) { on_leaving(r); },
              .on_written = [this](const MemoryApi::Written& w) { on_written(w); },
              .on_delivery = [this](const std::string& r, const json& o) { on_delivery(r, o); }}) {
    const Fleet fleet = make_fleet({});
    const auto put_all = [&](const char* resource, const std::vector<json>& objects) {
      for (const json& object : objects) api_.put(resource, object);
    };
    put_all("nodes", fleet.nodes);
    put_all("pods", fleet.pods);
    put_all("poddisruptionbudgets", fleet.budgets);
    put_all("jobs", fleet.jobs);
    put_all("miglayouts", fleet.layouts);
    put_all("daemonsets", fleet.daemon_sets);
    put_all("clusterpolicies", fleet.cluster_policies);
    for (const json& node : fleet.nodes) names_.push_back(node["metadata"]["name"]);
    for (const json& pod : fleet.pods)
      node_of_[pod["metadata"]["name"]] = pod["spec"]["nodeName"].get<std::string>();
    heartbeat();
  }

  MemoryApi& api() { return api_; }
  std::size_t done() const { return done_.size(); }
  const std::vector<double>& overheads_ms() const { return overheads_ms_; }

 private:
  struct Fact {
    MonotonicTime at;
    std::chrono::nanoseconds api_time;
  };

  // News of a node that is on its way is what berth waits for.
  void on_delivery(const std::string& resource, const json& object) {
    if (resource == "nodes") heard(object["metadata"]["name"]);
    if (resource == "pods") heard(object["spec"].value("nodeName", std::string()));
  }
  void heard(const std::string& node) {
    if (out_.contains(node)) facts_[node] = {loop_.now(), api_.own_time()};
  }

  void on_leaving(const HttpRequest& request) {
    if (request.method == "GET" || request.target.find("dryRun=") != std::string::npos) return;
    const std::string node = node_of(request.target);
    const auto fact = facts_.find(node);
    if (fact != facts_.end()) {
      const auto added = loop_.now() - fact->second.at - (api_.own_time() - fact->second.api_time);
      overheads_ms_.push_back(std::chrono::duration<double, std::milli>(added).count());
      facts_.erase(fact);
    }
    if (!node.empty()) out_.insert(node);
  }

  // The node that a write is about, or nothing.
  std::string node_of(const std::string& target) const {
    const auto part_after = [&](const std::string& marker) {
      const std::size_t at = target.find(marker);
      if (at == std::string::npos) return std::string();
      const std::size_t from = at + marker.size();
      return target.substr(from, target.find_first_of("/?", from) - from);
    };
    if (const std::string node = part_after("/nodes/"); !node.empty()) return node;
    const auto pod = node_of_.find(part_after("/pods/"));
    return pod == node_of_.end() ? "" : pod->second;
  }

  void on_written(const MemoryApi::Written& written) {
    if (written.resource == "pods/eviction" && !written.dry_run)
      loop_.call_after(kPodTakes,
                       [this, written] { api_.remove("pods", written.namespace_, written.name); });
    if (written.resource == "nodes" && written.object != nullptr) on_node_written(*written.object);
  }

  void on_node_written(const json& node) {
    const json& labels = node["metadata"]["labels"];
    const std::string name = node["metadata"]["name"];
    const bool relabelled = labels.value(names::kMigConfig, "") != names::kAllDisabled;
    if (relabelled && !labels.contains(names::kMigConfigState)) {
      loop_.call_after(kAgentTakes, [this, name] { cut(name); });
    } else if (relabelled && !node["spec"].value("unschedulable", false)) {
      done_.insert(name);
      out_.erase(name);
      facts_.erase(name);
      if (done_.size() == kNodesToRollOut) loop_.stop();
    }
  }

  // What mig-manager, device plugin and kubelet do in the end.
  void cut(const std::string& name) {
    const MemoryApi::Inside inside(api_);
    json node = api_.get("nodes", name);
    node["metadata"]["labels"][names::kMigConfigState] = "success";
    for (const char* list : {"capacity", "allocatable"}) {
      node["status"][list]["nvidia.com/gpu"] = "0";
      node["status"][list]["nvidia.com/mig-1g.10gb"] = "112";
    }
    api_.put("nodes", std::move(node));
  }

  // Nodes late in the alphabet, whose turn does not come.
  void heartbeat() {
    const MemoryApi::Inside inside(api_);
    const std::size_t half = names_.size() / 2;
    json node = api_.get("nodes", names_[half + next_heartbeat_++ % half]);
    node["status"]["conditions"][0]["lastHeartbeatTime"] =
        fmt::format("2026-09-01T10:{:02}:{:02}Z", next_heartbeat_ / 60 % 60, next_heartbeat_ % 60);
    api_.put("nodes", std::move(node));
    loop_.call_after(kHeartbeatEvery, [this] { heartbeat(); });
  }

  UvLoop& loop_;
  MemoryApi api_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> node_of_;  // by pod
  std::set<std::string> out_;                   // nodes on their way
  std::set<std::string> done_;
  std::map<std::string, Fact> facts_;  // not answered by a write yet
  std::vector<double> overheads_ms_;
  std::size_t next_heartbeat_ = 0;
};

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

int run() {
  UvLoop loop;
  ErrorsOnly log;
  Rollout rollout(loop);
  ApiClient client(loop, rollout.api(), log, {"bench", "controller"});
  Metrics metrics("bench");
  ControllerOptions options;
  options.leader_elect = false;
  options.settings.settle = options.settings.verify_for = Duration::zero();
  Controller controller(Controller::World{client, client, log, metrics, nullptr},
                        reconcilers(options.settings), options);
  std::stop_source stop;
  const auto main_task = [&]() -> Task<void> {
    co_await controller.run(stop.get_token());
    loop.stop();
  };
  loop.call_after(kGiveUpAfter, [&] { loop.stop(); });
  spawn(loop, main_task());
  loop.run();

  const std::vector<double>& values = rollout.overheads_ms();
  if (rollout.done() < kNodesToRollOut || values.empty()) {
    fmt::print(stderr, "rollout_bench: {} of {} nodes in time\n", rollout.done(), kNodesToRollOut);
    std::_Exit(1);
  }
  fmt::print(
      "{{\"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}, \"max_ms\": {:.3f}, \"samples\": {}, "
      "\"nodes_done\": {}}}\n",
      percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1), values.size(),
      rollout.done());
  std::fflush(stdout);
  std::_Exit(0);  // watches are open still: what they hold goes with the process
}

}  // namespace
}  // namespace berth

int main() { return berth::run(); }
