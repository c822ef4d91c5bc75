// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/fetch_dump.h"

#include <fmt/format.h>

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/mig_layout.h"
#include "apis/names.h"
#include "controller/client/list_bounds.h"
#include "controller/client/resource_path.h"
#include "controller/cmd/cluster_session.h"
#include "controller/cmd/console.h"
#include "controller/preview/dump.h"

namespace berth {
namespace {

// A continue token lives for minutes; a list that outlives it is begun again.
constexpr int kTries = 3;

struct Wanted {
  KindInfo kind;
  std::string namespace_;
  std::string name;  // empty: a list
  std::string label_selector;
  bool may_be_missing = false;  // a CRD that is not installed, a ConfigMap nobody made
  // What is worse off without it; set where the dump does without, and says so.
  std::string_view optional_for = {};
};

// In the order that DumpWriter asks for.
std::vector<Wanted> everything(const Settings& settings) {
  const std::string& agents = settings.agents_namespace;
  const KindInfo config_map = kKind<ConfigMap>;
  return {
      {.kind = kKind<Node>},
      {.kind = kKind<Pod>},
      {.kind = kKind<PodDisruptionBudget>},
      {.kind = kKind<Job>},
      {.kind = kKind<MIGLayout>, .may_be_missing = true},
      {.kind = kKind<ClusterPolicy>, .may_be_missing = true},
      {.kind = kKind<GPUClusterPolicy>, .optional_for = "pools and windows are left out"},
      {.kind = kKind<Namespace>, .optional_for = "every namespace counts as eligible"},
      {.kind = kKind<PriorityClass>, .optional_for = "all of the policy's count as new"},
      {.kind = kKind<DaemonSet>, .namespace_ = agents},
      {config_map, settings.berth_namespace, names::kSlotsConfigMap, "", true},
      {config_map, agents, settings.mig_config_map, "", true},
      {config_map, agents, "default-mig-parted-config", "", true},
      {config_map, agents, AgentsSpec().device_plugin_config_map, "", true,
       "all keys in it count as new"},
      // What the GPU operator generates per node.
      {.kind = config_map,
       .namespace_ = agents,
       .label_selector = "app.kubernetes.io/component=nvidia-mig-manager"},
  };
}

ApiRequest request_for(const Wanted& wanted, const std::string& continue_token) {
  if (!wanted.name.empty())
    return get_request(object_path(wanted.kind, ObjectKey{wanted.namespace_, wanted.name}));
  return list_request(wanted.kind, {.namespace_ = wanted.namespace_,
                                    .continue_token = continue_token,
                                    .label_selector = wanted.label_selector});
}

Error cannot_read(const Wanted& wanted, Error error) {
  error.where = fmt::format("cannot read {}{}", wanted.kind.plural,
                            wanted.namespace_.empty() ? "" : " in " + wanted.namespace_);
  return error;
}

// Why the dump does without, or empty if it can't.
std::string done_without(const Wanted& wanted, const Error& error) {
  if (wanted.optional_for.empty()) return {};
  if (error.kind == ErrorKind::kForbidden)
    return fmt::format("this account may not read {}{}: {}", wanted.kind.plural,
                       wanted.name.empty() ? "" : "/" + wanted.name, wanted.optional_for);
  if (error.kind == ErrorKind::kNotFound)
    return fmt::format(
        "the API server does not serve {}: {}{}", wanted.kind.plural, wanted.optional_for,
        wanted.kind.group == names::kGroup ? " (install berth's CRDs: kubectl apply -f crds/)"
                                           : "");
  return {};
}

Task<Result<void>> fetch(ApiClient& client, DumpWriter& writer, std::vector<std::string>& notes,
                         Wanted wanted, std::stop_token stop) {
  std::string token;
  ListBounds bounds;
  do {
    ApiRequest request = request_for(wanted, token);
    CallOptions options(Lane::kBulk, stop);
    Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
    if (!reply.has_value()) {
      if (wanted.may_be_missing && reply.error().kind == ErrorKind::kNotFound) break;
      if (std::string note = done_without(wanted, reply.error()); !note.empty()) {
        notes.push_back(std::move(note));
        break;
      }
      co_return cannot_read(wanted, std::move(reply).error());
    }
    if (!wanted.name.empty()) co_return writer.add_object(wanted.kind, reply->body);
    Result<std::string> next = writer.add_list(wanted.kind, reply->body);
    if (!next.has_value()) co_return cannot_read(wanted, std::move(next).error());
    token = std::move(*next);
    // How many objects it held, the writer does not tell; pages are counted.
    if (std::string bound = bounds.take_page(0, reply->body.size(), token); !bound.empty())
      co_return cannot_read(
          wanted, decode_error("", "berth rejects the API server's answer: " + std::move(bound)));
  } while (!token.empty());
  co_return Result<void>();
}

}  // namespace

Task<Result<std::string>> fetch_dump(ApiClient& client, Settings settings,
                                     std::vector<std::string>& notes, std::stop_token stop) {
  for (int attempt = 1;; ++attempt) {
    DumpWriter writer;
    notes.clear();
    Result<void> fetched;
    for (const Wanted& wanted : everything(settings)) {
      fetched = co_await fetch(client, writer, notes, wanted, stop);
      if (!fetched.has_value()) break;
    }
    if (fetched.has_value()) co_return writer.str(client.loop().wall_now());
    if (fetched.error().kind != ErrorKind::kGone || attempt == kTries) co_return fetched.error();
  }
}

Result<std::string> dump_of_cluster(const ConfigFlags& connection, const Settings& settings) {
  std::string server;
  std::vector<std::string> notes;
  Result<std::string> dump =
      converse(connection, server, [&](ApiClient& client, std::stop_token stop) {
        return fetch_dump(client, settings, notes, std::move(stop));
      });
  for (const std::string& note : notes) complain("note: " + note);
  if (!dump && !server.empty()) {
    Error error = std::move(dump).error();
    error.where = server + (error.where.empty() ? "" : ": " + error.where);
    return error;
  }
  return dump;
}

}  // namespace berth
