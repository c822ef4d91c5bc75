// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/flags.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "controller/cmd/line/service_flags.h"

namespace berth {
namespace {

FlagTable joined(std::vector<FlagTable> tables) {
  FlagTable all;
  for (FlagTable& table : tables)
    for (Flag& flag : table) all.push_back(std::move(flag));
  return all;
}

}  // namespace

Flag manifest_flag(std::vector<std::string>& files, const std::string& what) {
  Flag flag = list_flag("-f,--filename", files,
                        what + "; a file, a folder, or - for standard input; repeatable");
  flag.value = "FILE";
  return flag;
}

FlagTable connection_flags(ConfigFlags& flags) {
  return in_group(
      kClusterGroup,
      {
          file_flag("--kubeconfig", flags.kubeconfig,
                    "kubeconfig file; else $KUBECONFIG, ~/.kube/config, the pod's service account"),
          text_flag("--context", flags.context, "context of the kubeconfig to use"),
          switch_flag(
              "--allow-insecure-tls", flags.allow_insecure_tls,
              "accept insecure-skip-tls-verify in a kubeconfig, which berth refuses otherwise"),
      });
}

FlagTable login_flags(ConfigFlags& flags) {
  FlagTable table = connection_flags(flags);
  std::vector<std::string>& plugins = flags.exec_plugins;
  table.push_back(list_flag("--exec-plugins", plugins,
                            "credential plugins that a kubeconfig may run: all, none, or their "
                            "names and absolute paths, separated by commas"));
  table.back().kind = Flag::Kind::kValue;
  table.back().group = kClusterGroup;
  table.back().set = [&plugins](const std::string& text) -> Result<void> {
    std::vector<std::string> words;
    std::istringstream list(text + ",");
    for (std::string word; std::getline(list, word, ',');) {
      const bool alone = word == "all" || word == "none";
      const bool relative = std::ranges::count(word, '/') > 0 && !word.starts_with('/');
      if (word.empty() || relative || (alone && word != text))
        return invalid_spec(
            "--exec-plugins",
            "\"" + text + "\" is neither all nor none nor a list of names and absolute paths");
      words.push_back(std::move(word));
    }
    plugins = std::move(words);
    return {};
  };
  return table;
}

FlagTable node_key_flags(WritableKeys& keys) {
  return {
      keys_flag("--node-label-keys", keys.labels,
                "keys of labels, besides gpu.berth.dev/, that an admission policy allows berth to "
                "write on nodes: all, none, or keys separated by commas"),
      keys_flag("--node-taint-keys", keys.taints, "the same of taints"),
  };
}

FlagTable settings_flags(Settings& settings) {
  FlagTable places = {
      text_flag("--namespace", settings.berth_namespace,
                "berth's own namespace: the slot ledger and the lease live there"),
      text_flag("--agents-namespace", settings.agents_namespace, "where NVIDIA's node agents run"),
      text_flag("--mig-config-map", settings.mig_config_map,
                "ConfigMap in the agents' namespace that berth renders for mig-manager"),
      text_flag("--mig-manager-daemon-set", settings.mig_manager_daemon_set,
                "mig-manager's DaemonSet in the agents' namespace"),
  };
  FlagTable patience = {
      duration_flag("--settle", settings.settle,
                    "after the cordon, before the live check that precedes a repartition"),
      duration_flag("--verify-for", settings.verify_for,
                    "how long a node must advertise what the layout promises"),
      duration_flag("--agent-configmap-delay", settings.agent_config_map_delay,
                    "how late a mounted ConfigMap may reach the agent"),
      duration_flag("--answer-ttl", settings.answer_ttl,
                    "how long the API server's answer to a dry-run eviction counts"),
      duration_flag("--retry-backoff", settings.retry_backoff,
                    "after a failed attempt on a node; doubles with each"),
      duration_flag("--abort-backoff", settings.abort_backoff,
                    "before a node whose drain timed out is tried again; doubles with each"),
      duration_flag("--eviction-retry", settings.eviction_retry,
                    "between tries to evict a pod that a PodDisruptionBudget protects"),
  };
  return joined({in_group(kPlacesGroup, std::move(places)),
                 in_group(kAdvancedGroup,
                          joined({std::move(patience), node_key_flags(settings.node_keys)}))});
}

FlagTable log_flags(LogFlags& flags) {
  return in_group(
      "Log",
      {
          choice_flag("--log-level", flags.level, {"debug", "info", "warn", "error"},
                      "lowest level that is logged"),
          choice_flag("--log-format", flags.format, {"text", "json"}, "how lines are written"),
      });
}

FlagTable keeper_flags(KeeperFlags& flags) {
  return in_group(
      "The webhook's certificates",
      {
          text_flag("--webhook-certificates", flags.options.leaf_secret,
                    "Secret of the webhook's certificate, which berth makes and renews; off "
                    "(controller only): somebody else does"),
          duration_flag("--webhook-certificates-check", flags.check,
                        "between checks of the certificate and of the configurations that carry "
                        "its authority"),
          text_flag("--webhook-authority", flags.options.authority_secret,
                    "Secret of that certificate's authority"),
          text_flag("--webhook-service", flags.options.service,
                    "Service in berth's namespace that the certificate names"),
          text_flag("--webhook-configuration", flags.options.configuration,
                    "name of the webhook configurations, of both kinds, that carry the authority"),
      });
}

Result<void> validate(const KeeperFlags& flags) {
  const Result<void> named =
      require_texts({{"--webhook-certificates", flags.options.leaf_secret},
                     {"--webhook-authority", flags.options.authority_secret},
                     {"--webhook-service", flags.options.service},
                     {"--webhook-configuration", flags.options.configuration}});
  if (!named.has_value()) return named;
  if (flags.check < std::chrono::milliseconds(100))
    return invalid_spec("--webhook-certificates-check", "must be at least 100ms");
  if (flags.options.leaf_secret == flags.options.authority_secret)
    return invalid_spec(
        "--webhook-authority",
        "must not be the Secret of --webhook-certificates: the webhook mounts that");
  return {};
}

FlagTable proof_flags(Settings::Proof& proof) {
  return in_group(
      "Proof that a node's GPUs work",
      {
          text_flag("--proof-image", proof.image,
                    "image of the Job that runs on a node that was out for its health before it is "
                    "put back into service; empty: none does"),
          text_flag("--proof-command", proof.command,
                    "what it runs, words separated by spaces; empty: what the image does"),
          text_flag("--proof-runtime-class", proof.runtime_class,
                    "its RuntimeClass; empty: the container runtime's own"),
      });
}

FlagTable measuring_flags(Settings& settings) {
  return in_group(
      "What measures GPUs",
      {text_flag("--prometheus-token-url", settings.prometheus_token_url,
                 "address of the Prometheus that gets the token of "
                 "spec.metrics.prometheus.bearerTokenSecretRef; berth sends it to no other; empty: "
                 "to none")});
}

FlagTable controller_flags(ControllerFlags& flags) {
  LeaseOptions& lease = flags.options.lease;
  FlagTable election = {
      switch_flag("--leader-elect", flags.options.leader_elect,
                  "hold a Lease before writing; without it a second process would do harm"),
      text_flag("--leader-elect-resource-name", lease.name, "the Lease's name"),
      text_flag("--cluster-claim-namespace", flags.options.claim_namespace,
                "where the leader holds a second Lease, berth-cluster, so that a berth of another "
                "namespace that names the same stands by; empty: nowhere"),
      duration_flag("--leader-elect-lease-duration", lease.lease_duration,
                    "after which an unrenewed Lease may be taken over"),
      duration_flag("--leader-elect-renew-deadline", lease.renew_deadline,
                    "after which a leader that could not renew stops writing and exits"),
      duration_flag("--leader-elect-retry-period", lease.retry_period,
                    "between tries to take or renew the Lease"),
      number_flag("--kube-api-qps", flags.api_qps,
                  "requests per second to the API server, not counting leases, watches, statuses "
                  "and events; -1: no limit but the server's own"),
      count_flag("--kube-api-burst", flags.api_burst,
                 "requests that may be sent at once before --kube-api-qps counts"),
      number_flag("--kube-api-status-qps", flags.status_qps,
                  "statuses and events per second, which never delay other writes; -1: no limit "
                  "but the server's own"),
      count_flag("--kube-api-status-burst", flags.status_burst,
                 "statuses and events that may be sent at once before --kube-api-status-qps "
                 "counts"),
  };
  FlagTable page = {
      text_flag("--page-bind-address", flags.page_bind_address,
                "where the page of `berth ui` is served, to each who shows a bearer token what he "
                "may list; 0: nowhere"),
      text_flag("--page-cert-dir", flags.page_certificate_folder,
                "folder of tls.crt and tls.key, as a Secret is mounted, to serve it by HTTPS"),
      switch_flag("--page-plain-http", flags.page_plain_http,
                  "serve it without TLS: where a proxy that you trust stands before it, for tokens "
                  "are then readable on the way to here"),
  };
  FlagTable own = {switch_flag("--dry-run", flags.options.dry_run,
                               "log what would be done and write nothing, not even a Lease"),
                   switch_flag("--history", flags.options.keep_history,
                               "keep what was done, and why something waited, in ConfigMaps "
                               "berth-history-0 to -7 for `berth history`: 1 MiB at most, written "
                               "twice a minute at most")};
  for (Flag& flag : probe_flags(flags.probes)) own.push_back(std::move(flag));
  own.push_back(print_config_flag(flags.print_config));
  return joined({connection_flags(flags.connection), settings_flags(flags.options.settings),
                 in_group("Leader election and load", std::move(election)),
                 proof_flags(flags.options.settings.proof), measuring_flags(flags.options.settings),
                 keeper_flags(flags.keeper), in_group("The page", std::move(page)), std::move(own),
                 log_flags(flags.log)});
}

Result<void> validate(const ControllerFlags& flags) {
  const Settings& settings = flags.options.settings;
  const Result<void> named =
      require_texts({{"--namespace", settings.berth_namespace},
                     {"--agents-namespace", settings.agents_namespace},
                     {"--mig-config-map", settings.mig_config_map},
                     {"--mig-manager-daemon-set", settings.mig_manager_daemon_set},
                     {"--leader-elect-resource-name", flags.options.lease.name}});
  if (!named.has_value()) return named;
  if (Result<void> lease = validate(flags.options.lease); !lease.has_value()) return lease;
  if (Result<void> keeper = validate(flags.keeper); !keeper.has_value()) return keeper;
  const std::pair<const char*, double> rates[] = {{"--kube-api-qps", flags.api_qps},
                                                  {"--kube-api-status-qps", flags.status_qps}};
  for (const auto& [name, rate] : rates)
    if (rate != -1 && !(rate >= 0.1 && rate <= 100'000))
      return invalid_spec(name, "must be between 0.1 and 100000, or -1 for no limit");
  const std::pair<const char*, int> bursts[] = {{"--kube-api-burst", flags.api_burst},
                                                {"--kube-api-status-burst", flags.status_burst}};
  for (const auto& [name, burst] : bursts)
    if (burst < 1 || burst > 100'000) return invalid_spec(name, "must be between 1 and 100000");
  if (Result<void> probes = validate(flags.probes); !probes.has_value()) return probes;
  const Result<void> addresses =
      require_addresses({{"--page-bind-address", flags.page_bind_address}});
  if (!addresses.has_value()) return addresses;
  const bool by_tls = !flags.page_certificate_folder.empty();
  if (enabled(flags.page_bind_address) && by_tls == flags.page_plain_http)
    return invalid_spec("--page-bind-address",
                        "needs either --page-cert-dir or --page-plain-http: tokens are sent there");
  return {};
}

}  // namespace berth
