// SPDX-License-Identifier: Apache-2.0
// ExecCredential: the input and output of a kubeconfig's credential plugin
// (client.authentication.k8s.io/v1 and v1beta1). This file runs no program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/client/kubeconfig_file.h"
#include "controller/io/client_config.h"
#include "controller/io/host.h"

namespace berth {

// Either a token, or a certificate and its key, or both.
struct ExecCredential {
  std::string token;
  std::string certificate;  // PEM
  std::string key;
  std::optional<Time> expires;
};

// Checks a plugin's entry in the kubeconfig; `input` is its interactiveMode as written.
Result<void> check_exec_plugin(const ExecPlugin& plugin, const std::string& input);

// JSON of the cluster, for a plugin that asked for provideClusterInfo.
std::string encode_exec_cluster(const Host& host, const KubeCluster& cluster);

// The value of KUBERNETES_EXEC_INFO.
std::string encode_exec_info(const ExecPlugin& plugin, bool interactive);

// Reads the plugin's standard output. Errors never repeat it, because it is secret.
Result<ExecCredential> decode_exec_credential(const ExecPlugin& plugin, std::string_view output);

}  // namespace berth
