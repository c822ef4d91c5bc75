// SPDX-License-Identifier: Apache-2.0
// Outline: find the files, merge them, choose the context, check its entries, fill a ClientConfig.
#include "controller/client/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/client/exec_credential.h"
#include "controller/client/kubeconfig_file.h"
#include "controller/client/server_url.h"

namespace berth {
namespace {

struct Found {
  Kubeconfig config;
  std::vector<std::string> files;  // existing ones
  std::string looked_at;           // for the message if there are none
};

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t colon = std::min(list.find(':', at), list.size());
    if (colon > at) out.push_back(list.substr(at, colon - at));
    at = colon + 1;
  }
  return out;
}

Result<Found> find_files(const Host& host, const ConfigFlags& flags) {
  std::vector<std::string> candidates;
  Found found;
  const std::string listed = host.env("KUBECONFIG").value_or("");
  const std::string home = host.env("HOME").value_or("");
  if (!flags.kubeconfig.empty()) {
    candidates = {flags.kubeconfig};
    found.looked_at = "--kubeconfig " + flags.kubeconfig;
  } else if (!listed.empty()) {
    candidates = split_list(listed);
    found.looked_at = "KUBECONFIG=" + listed;
  } else if (!home.empty()) {
    candidates = {home + "/.kube/config"};
    found.looked_at = candidates.front();
  }
  for (const std::string& file : candidates) {
    FileText read = host.read_file(file);
    if (read.missing && flags.kubeconfig.empty()) continue;
    if (!read.text) return invalid_spec(file, "cannot read this kubeconfig: " + read.error);
    Result<Kubeconfig> parsed = parse_kubeconfig(*read.text, file);
    if (!parsed.has_value()) return std::move(parsed).error();
    merge_kubeconfig(found.config, *std::move(parsed));
    found.files.push_back(file);
  }
  return found;
}

template <class Value>
std::string names_in(const std::map<std::string, Value>& entries) {
  if (entries.empty()) return "it has none";
  std::string out = "it has ";
  const char* separator = "";
  for (const auto& [name, value] : entries) {
    out.append(separator).append(name);
    separator = ", ";
  }
  return out;
}

Result<void> check_readable(const Host& host, const std::string& where, const std::string& file) {
  if (file.empty()) return {};
  const FileText read = host.read_file(file);
  if (!read.text) return invalid_spec(where, "cannot read " + file + ": " + read.error);
  return {};
}

Result<void> fill_cluster(const Host& host, const KubeCluster& cluster, bool allow_insecure,
                          ClientConfig& out) {
  Result<std::string> server = check_server_url(cluster.where + ".server", cluster.server);
  if (!server.has_value()) return server.error();
  if (cluster.insecure_skip_tls_verify && !allow_insecure) {
    return invalid_spec(
        cluster.where + ".insecure-skip-tls-verify",
        "berth verifies whom it gives its credentials to: set certificate-authority-data instead, "
        "or say --insecure-skip-tls-verify too if this is a test cluster");
  }
  if (cluster.insecure_skip_tls_verify && !cluster.certificate_authority.empty()) {
    return invalid_spec(cluster.where,
                        "sets both insecure-skip-tls-verify and a certificate-authority: drop one");
  }
  Result<void> proxy = check_proxy_url(cluster.where + ".proxy-url", cluster.proxy_url);
  if (!proxy.has_value()) return proxy;
  Result<void> readable = check_readable(host, cluster.where + ".certificate-authority",
                                         cluster.certificate_authority.file);
  if (!readable.has_value()) return readable;
  out.server = *std::move(server);
  out.certificate_authority = cluster.certificate_authority;
  out.insecure_skip_tls_verify = cluster.insecure_skip_tls_verify;
  out.tls_server_name = cluster.tls_server_name;
  out.proxy_url = cluster.proxy_url;
  return {};
}

Result<void> check_supported(const KubeUser& user) {
  if (user.unsupported.empty()) return {};
  const std::string where = user.where + "." + user.unsupported;
  if (user.unsupported == "auth-provider") {
    return invalid_spec(where,
                        "auth-provider left Kubernetes' clients in 1.26: put a token, a tokenFile "
                        "or a client certificate there");
  }
  return invalid_spec(where, "berth does not send this: remove it");
}

Result<void> check_login(const KubeUser& user) {
  if (user.client_certificate.empty() != user.client_key.empty()) {
    return invalid_spec(user.where,
                        "client-certificate and client-key belong together: one is missing");
  }
  const bool basic = !user.username.empty() || !user.password.empty();
  if (basic && (user.username.empty() || user.password.empty())) {
    return invalid_spec(user.where, "username and password belong together: one is missing");
  }
  if (basic && (!user.token.empty() || !user.token_file.empty())) {
    return invalid_spec(user.where, "has both a token and a username: keep one");
  }
  if (user.impersonate_user.empty() &&
      (!user.impersonate_groups.empty() || !user.impersonate_uid.empty())) {
    return invalid_spec(user.where, "as-groups and as-uid need as");
  }
  return {};
}

// Like kubectl, berth runs no plugin if the kubeconfig itself has credentials.
bool says_who(const KubeUser& user) {
  return !user.token.empty() || !user.token_file.empty() || !user.username.empty() ||
         !user.client_certificate.empty();
}

// A kubeconfig may name any program, so the user's list says which ones may run. berth looks for a
// bare name in PATH. With a path, a different program could have an allowed name.
Result<void> check_allowed(const ExecPlugin& exec, const std::vector<std::string>& allowed) {
  std::string listed;
  for (const std::string& entry : allowed) {
    if (entry == "all" || entry == exec.command) return {};
    listed += (listed.empty() ? "" : ",") + entry;
  }
  return invalid_spec(
      exec.where + ".command",
      fmt::format("the credential plugin {0} may not run, as --exec-plugins is {1}; "
                  "if you trust it, say --exec-plugins={0}",
                  exec.command, listed));
}

Result<void> fill_exec(const Host& host, const KubeCluster& cluster, const KubeUser& user,
                       const std::vector<std::string>& allowed, ExecPlugins plugins,
                       ClientConfig& out) {
  if (!user.exec || says_who(user)) return {};
  const ExecPlugin& exec = *user.exec;
  if (plugins == ExecPlugins::kRefused) {
    return invalid_spec(exec.where,
                        "berth's services run no credential plugins, because nobody is there to "
                        "log in: put a token, a tokenFile or a client certificate there (kubectl "
                        "create token makes one)");
  }
  Result<void> checked = check_exec_plugin(exec, user.exec_input);
  if (checked.has_value()) checked = check_allowed(exec, allowed);
  if (!checked.has_value()) return checked;
  out.exec = exec;
  if (user.exec_input == "Never") out.exec->input = ExecPlugin::Input::kNever;
  if (user.exec_input == "Always") out.exec->input = ExecPlugin::Input::kAlways;
  if (user.exec_wants_cluster) out.exec->cluster = encode_exec_cluster(host, cluster);
  return {};
}

Result<void> fill_user(const Host& host, const KubeUser& user, ClientConfig& out) {
  Result<void> checked = check_supported(user);
  if (checked.has_value()) checked = check_login(user);
  if (!checked.has_value()) return checked;
  const std::pair<const char*, const std::string*> files[] = {
      {".client-certificate", &user.client_certificate.file},
      {".client-key", &user.client_key.file},
      {".tokenFile", &user.token_file}};
  for (const auto& [key, file] : files) {
    Result<void> readable = check_readable(host, user.where + key, *file);
    if (!readable.has_value()) return readable;
  }
  out.client_certificate = user.client_certificate;
  out.client_key = user.client_key;
  out.token = user.token;
  out.token_file = user.token_file;
  out.username = user.username;
  out.password = user.password;
  out.impersonate_user = user.impersonate_user;
  out.impersonate_uid = user.impersonate_uid;
  out.impersonate_groups = user.impersonate_groups;
  return {};
}

Result<ClientConfig> choose(const Host& host, const Found& found, const ConfigFlags& flags,
                            ExecPlugins plugins) {
  const Kubeconfig& config = found.config;
  const std::string& file = found.files.front();
  const std::string& name = flags.context.empty() ? config.current_context : flags.context;
  if (name.empty()) {
    return invalid_spec(file, "current-context is not set: set it, or say --context NAME (" +
                                  names_in(config.contexts) + ")");
  }
  const auto context = config.contexts.find(name);
  if (context == config.contexts.end()) {
    return invalid_spec(file, "there is no context \"" + name + "\"; " + names_in(config.contexts));
  }
  const KubeContext& chosen = context->second;
  const auto cluster = config.clusters.find(chosen.cluster);
  if (cluster == config.clusters.end()) {
    return invalid_spec(chosen.where + ".cluster", "there is no cluster \"" + chosen.cluster +
                                                       "\"; " + names_in(config.clusters));
  }
  ClientConfig out;
  Result<void> filled = fill_cluster(host, cluster->second, flags.allow_insecure_tls, out);
  if (!filled.has_value()) return filled.error();
  const auto user = config.users.find(chosen.user);
  if (user == config.users.end() && !chosen.user.empty()) {
    return invalid_spec(chosen.where + ".user",
                        "there is no user \"" + chosen.user + "\"; " + names_in(config.users));
  }
  if (user != config.users.end()) {
    filled = fill_user(host, user->second, out);
    if (filled.has_value())
      filled = fill_exec(host, cluster->second, user->second, flags.exec_plugins, plugins, out);
  }
  if (!filled.has_value()) return filled.error();
  if (!chosen.namespace_.empty()) out.namespace_ = chosen.namespace_;
  out.origin = "context " + name + " of " + chosen.where.substr(0, chosen.where.find(": "));
  return out;
}

}  // namespace

Result<ClientConfig> load_client_config(const Host& host, const ConfigFlags& flags,
                                        ExecPlugins plugins) {
  Result<Found> found = find_files(host, flags);
  if (!found.has_value()) return std::move(found).error();
  Result<ClientConfig> config = Error{};
  if (!found->files.empty()) {
    config = choose(host, *found, flags, plugins);
  } else if (!flags.context.empty()) {
    config = invalid_spec("--context " + flags.context,
                          "there is no kubeconfig file to find it in (" + found->looked_at + ")");
  } else if (!host.env("KUBERNETES_SERVICE_HOST").value_or("").empty()) {
    config = load_in_cluster_config(host);
  } else {
    const std::string looked = found->looked_at.empty() ? "" : " (" + found->looked_at + ")";
    config =
        invalid_spec("", "there is no kubeconfig file" + looked +
                             " and this is not a pod: say --kubeconfig FILE or set KUBECONFIG");
  }
  if (config.has_value() && !flags.namespace_.empty()) config->namespace_ = flags.namespace_;
  return config;
}

}  // namespace berth
