// SPDX-License-Identifier: Apache-2.0
// Kubeconfig: how berth finds its API server, from kubeconfig files or from a pod's service
// account.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"
#include "controller/io/client_config.h"
#include "controller/io/host.h"

namespace berth {

// What the command line said; empty means it said nothing.
struct ConfigFlags {
  std::string kubeconfig;           // --kubeconfig: this file alone, and it must exist
  std::string context;              // --context
  std::string namespace_;           // --namespace
  bool allow_insecure_tls = false;  // without it, insecure-skip-tls-verify in a file is refused
  // --exec-plugins: "all", "none", or names and absolute paths of the programs that may run.
  std::vector<std::string> exec_plugins = {"all"};
};

// Whether a user may log in by a program of theirs. A service may not: it has nobody to ask, and
// starts no programs.
enum class ExecPlugins { kRefused, kAccepted };

// From --kubeconfig, else $KUBECONFIG (a ':'-separated list; of each named entry and setting the
// first file to have it wins), else $HOME/.kube/config; and when none of these exists, from the
// pod's service account. Errors name file and field.
Result<ClientConfig> load_client_config(const Host& host, const ConfigFlags& flags,
                                        ExecPlugins plugins = ExecPlugins::kRefused);

// From KUBERNETES_SERVICE_HOST and _PORT and the files under
// /var/run/secrets/kubernetes.io/serviceaccount.
Result<ClientConfig> load_in_cluster_config(const Host& host);

}  // namespace berth
