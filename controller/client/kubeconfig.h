// SPDX-License-Identifier: Apache-2.0
// Kubeconfig: where berth's API server is and how to log in, from kubeconfig files or from a pod's
// service account.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/io/client_config.h"
#include "controller/io/host.h"

namespace berth {

// Flags of the command line; empty: not given.
struct ConfigFlags {
  std::string kubeconfig;           // --kubeconfig: only this file, and it must exist
  std::string context;              // --context
  std::string namespace_;           // --namespace
  bool allow_insecure_tls = false;  // if false, berth refuses a file with insecure-skip-tls-verify
  // --exec-plugins: "all", "none", or names and absolute paths of allowed programs.
  std::vector<std::string> exec_plugins = {"all"};
};

// Whether credential plugins may run. Services refuse them: they can't ask a user, and they start
// no programs.
enum class ExecPlugins { kRefused, kAccepted };

// Reads --kubeconfig, else $KUBECONFIG, else $HOME/.kube/config. $KUBECONFIG is a ':'-separated
// list; for each entry and setting the first file that has it counts. If none of the files exists,
// reads the pod's service account. Errors name file and field.
Result<ClientConfig> load_client_config(const Host& host, const ConfigFlags& flags,
                                        ExecPlugins plugins = ExecPlugins::kRefused);

// Reads KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and the files under
// /var/run/secrets/kubernetes.io/serviceaccount.
Result<ClientConfig> load_in_cluster_config(const Host& host);

}  // namespace berth
