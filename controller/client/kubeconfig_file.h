// SPDX-License-Identifier: Apache-2.0
// KubeconfigFile: the contents of one kubeconfig file, or of several merged ones, before berth
// chooses a context.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/io/client_config.h"

namespace berth {

struct KubeCluster {
  std::string where;  // "/home/u/.kube/config: clusters[0].cluster", for messages
  std::string server;
  PemSource certificate_authority;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;
  std::string exec_config;  // the cluster's JSON for credential plugins; empty: none
};

struct KubeUser {
  std::string where;
  PemSource client_certificate;
  PemSource client_key;
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::optional<ExecPlugin> exec;  // as written: unchecked, and without its `cluster`
  std::string exec_input;          // interactiveMode
  bool exec_wants_cluster = false;
  std::string unsupported;  // the key of an unsupported way to log in: auth-provider
};

struct KubeContext {
  std::string where;
  std::string cluster;
  std::string user;
  std::string namespace_;
};

struct Kubeconfig {
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
  std::string current_context;
};

// Resolves relative paths from the folder of `file`. Errors name the file and the field.
Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& file);

// Adds the entries that `base` lacks: the first file that has an entry wins.
void merge_kubeconfig(Kubeconfig& base, Kubeconfig later);

}  // namespace berth
