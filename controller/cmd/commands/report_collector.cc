// SPDX-License-Identifier: Apache-2.0
// Outline: the snapshot and the answers of `berth why`; lists of objects; the history; berth's pods
// and their metrics; NVIDIA's node components on nodes out of service; the logs of both.
#include "controller/cmd/commands/report_collector.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/client/resource_path.h"
#include "controller/cmd/cluster/fetch_dump.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/disruption/nodes_out.h"
#include "controller/dump/dump.h"
#include "controller/explain/controller_lease.h"
#include "controller/explain/waiting_list.h"
#include "controller/history/history_chunk.h"
#include "controller/live/tz_database.h"

namespace berth {
namespace {

constexpr std::size_t kMaxReply = 64u << 20;
constexpr int kMaxLogBytes = 8 << 20;  // of one container
// Logs of NVIDIA's node components: from at most this many nodes, the last lines of each container.
constexpr std::size_t kMaxAgentNodes = 10;
constexpr char kAgentLogBounds[] = "tailLines=4000&limitBytes=1048576";
constexpr std::size_t kMaxEventPages = 40;
constexpr std::size_t kMaxExplained = 200;
constexpr int kMetricsPort = 8080;

constexpr char kOfBerth[] = "app.kubernetes.io/name=berth";
constexpr char kOfAgents[] = "app in (nvidia-mig-manager,nvidia-device-plugin-daemonset)";

std::string pods_path(const std::string& namespace_) {
  return collection_path(kKind<Pod>, namespace_);
}

std::string versions() {
  const BuildFacts& facts = build_facts();
  return fmt::format("command: berth {}\ncompiler: {}\nplatform: {}\n", summary(facts),
                     facts.compiler, facts.platform);
}

// One line for each waiting workload, followed by the answer of `berth why`.
std::string why_of(const Dump& dump, const Settings& settings) {
  const Answers answers;
  const TzDatabase zones;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = settings,
                          .now = dump.taken_at,
                          .offline = true,
                          .zones = zones,
                          .attention = leader_attention(dump.clues)};
  const WaitingList list = list_waiting(snapshot, "", dump.clues);
  std::string told = print_text(list);
  for (std::size_t i = 0; i < list.items.size() && i < kMaxExplained; ++i)
    told += "\n" + print_text(list.items[i]);
  return told;
}

}  // namespace

void ReportCollector::miss(const std::string& what, const Error& error) {
  gaps.push_back(fmt::format("{}: {}", what, describe(error)));
}

Task<Result<std::string>> ReportCollector::get(std::string target, std::stop_token stop) {
  ApiRequest request = get_request(std::move(target));
  request.max_reply_bytes = kMaxReply;
  CallOptions call(Lane::kBulk, std::move(stop));
  Result<Reply> reply = co_await client_.send(std::move(request), std::move(call));
  if (!reply.has_value()) co_return std::move(reply).error();
  co_return std::move(reply->body);
}

Task<Result<std::string>> ReportCollector::collect(std::stop_token stop) {
  Result<std::string> version = co_await get("/version", stop);
  if (!version && version.error().http_code == 0) co_return std::move(version).error();
  if (!version) miss("version of the API server", version.error());
  files.push_back({"versions.txt", versions() + "server: " + (version ? *version : "?") + "\n"});

  DumpQuery query{.settings = settings_, .workloads = true, .tolerant = true};
  std::vector<std::string> notes;
  Result<std::string> snapshot = co_await fetch_dump(client_, query, notes, stop);
  for (const std::string& note : notes) gaps.push_back("snapshot: " + note);
  std::vector<std::string> out;  // nodes
  if (snapshot) {
    std::string text = *snapshot;
    if (const Result<Dump> dump = load_dump(text); dump) {
      files.push_back({"why.txt", why_of(*dump, settings_)});
      for (const Node* node : nodes_out(dump->cluster)) out.push_back(node->meta.name);
    } else {
      miss("why.txt", dump.error());
    }
    files.push_back({"snapshot.json", *std::move(snapshot)});
  } else {
    miss("snapshot.json", snapshot.error());
  }

  co_await add_berth(stop);
  co_await add_agents(std::move(out), stop);
  const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
  const std::string deployments =
      fmt::format("/apis/apps/v1/namespaces/{}/deployments", escape_url(settings_.berth_namespace));
  co_await add_list("deployments.json", deployments, stop);
  for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations",
                           "validatingadmissionpolicies", "validatingadmissionpolicybindings"}) {
    std::string file = std::string(kind) + ".json";
    std::string path = admission + kind;
    co_await add_list(std::move(file), std::move(path), stop);
  }
  co_await add_list("resourcequotas.json", "/api/v1/resourcequotas", stop);
  co_await add_events(stop);
  co_await add_history(stop);
  co_return std::string();
}

Task<void> ReportCollector::add_list(std::string file, std::string path, std::stop_token stop) {
  Result<std::string> body = co_await get(std::move(path), std::move(stop));
  Result<std::string> text = body ? trimmed_list(*body) : body;
  if (text)
    files.push_back({std::move(file), *std::move(text)});
  else
    miss(file, text.error());
}

// Events of all namespaces do not come in order of time, so this reads all pages up to a limit.
Task<void> ReportCollector::add_events(std::stop_token stop) {
  std::string token;
  for (std::size_t page = 0; page < kMaxEventPages; ++page) {
    Query query;
    query.add("limit", "500").add("continue", token);
    Result<std::string> body = co_await get("/apis/events.k8s.io/v1/events" + query.str(), stop);
    Result<std::string> text = body ? trimmed_list(*body) : body;
    if (!text) co_return miss("events.json", text.error());
    const nlohmann::json list = nlohmann::json::parse(*text, nullptr, false);
    token = list.value("/metadata/continue"_json_pointer, std::string());
    files.push_back({fmt::format("events/{:02}.json", page), *std::move(text)});
    if (token.empty()) co_return;
  }
  gaps.push_back("events: more than 20000; the rest is left out");
}

Task<void> ReportCollector::add_history(std::stop_token stop) {
  std::vector<ConfigMap> found;
  for (const std::string& name : history_config_maps()) {
    ObjectKey key{settings_.berth_namespace, name};
    Result<ConfigMap> read = co_await client_.get<ConfigMap>(std::move(key), CallOptions(stop));
    if (read)
      found.push_back(*std::move(read));
    else if (read.error().kind != ErrorKind::kNotFound)
      co_return miss("history.txt", read.error());
  }
  std::string text;
  for (const HistoryLine& line : lines_of(found)) text += format(line) + "\n";
  files.push_back({"history.txt", std::move(text)});
}

Task<void> ReportCollector::add_berth(std::stop_token stop) {
  const std::string path = pods_path(settings_.berth_namespace);
  Query query;
  query.add("labelSelector", kOfBerth);
  const auto containers = co_await add_pods(path + query.str(), "pods.json", stop);
  if (containers.empty())
    gaps.push_back(fmt::format("logs: namespace {} has no pod with label {}",
                               settings_.berth_namespace, kOfBerth));
  const std::string bounds = fmt::format("limitBytes={}", kMaxLogBytes);
  for (const LoggedContainer& one : containers) {
    co_await add_logs(path, "logs", one, bounds, stop);
    const std::string metrics =
        fmt::format("{}/{}:{}/proxy/metrics", path, escape_url(one.pod), kMetricsPort);
    co_await add_log(metrics, fmt::format("metrics/{}.txt", one.pod), stop);
  }
}

Task<void> ReportCollector::add_agents(std::vector<std::string> nodes, std::stop_token stop) {
  if (nodes.size() > kMaxAgentNodes) {
    gaps.push_back(
        fmt::format("agents: {} nodes are out of service; those of the first {} are here",
                    nodes.size(), kMaxAgentNodes));
    nodes.resize(kMaxAgentNodes);
  }
  const std::string path = pods_path(settings_.agents_namespace);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Query query;
    query.add("labelSelector", kOfAgents).add("fieldSelector", "spec.nodeName=" + nodes[i]);
    const auto containers =
        co_await add_pods(path + query.str(), fmt::format("agents/{}.json", i), stop);
    for (const LoggedContainer& one : containers)
      co_await add_logs(path, "agents", one, kAgentLogBounds, stop);
  }
}

// The pods, without environment variables.
Task<std::vector<LoggedContainer>> ReportCollector::add_pods(std::string target, std::string file,
                                                             std::stop_token stop) {
  Result<std::string> body = co_await get(std::move(target), std::move(stop));
  Result<std::string> text = body ? trimmed_list(*body) : body;
  Result<std::vector<LoggedContainer>> containers =
      text ? containers_in(*body) : Result<std::vector<LoggedContainer>>(text.error());
  if (!containers) {
    miss(file, containers.error());
    co_return std::vector<LoggedContainer>();
  }
  files.push_back({std::move(file), *std::move(text)});
  co_return *std::move(containers);
}

// Also the log from before a restart.
Task<void> ReportCollector::add_logs(std::string path, std::string folder, LoggedContainer one,
                                     std::string bounds, std::stop_token stop) {
  const std::string log = fmt::format("{}/{}/log?container={}&timestamps=true&{}", path,
                                      escape_url(one.pod), escape_url(one.container), bounds);
  const std::string file = fmt::format("{}/{}-{}", folder, one.pod, one.container);
  co_await add_log(log, file + ".log", stop);
  if (one.has_restarted) co_await add_log(log + "&previous=true", file + "-previous.log", stop);
}

Task<void> ReportCollector::add_log(std::string target, std::string file, std::stop_token stop) {
  Result<std::string> text = co_await get(std::move(target), std::move(stop));
  if (text)
    files.push_back({std::move(file), *std::move(text)});
  else
    miss(file, text.error());
}

}  // namespace berth
