// SPDX-License-Identifier: Apache-2.0
// ExecCredential: what berth tells a kubeconfig's credential plugin, and what the plugin prints
// (client.authentication.k8s.io/v1 and v1beta1). Nobody runs a program here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/result.h"
#include "apis/time.h"
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

// What is wrong with a plugin's entry in the kubeconfig; `input` is its interactiveMode as written.
Result<void> check_exec_plugin(const ExecPlugin& plugin, const std::string& input);

// JSON of the cluster as a plugin is told of it that asked for provideClusterInfo.
std::string encode_exec_cluster(const Host& host, const KubeCluster& cluster);

// The value of KUBERNETES_EXEC_INFO.
std::string encode_exec_info(const ExecPlugin& plugin, bool interactive);

// From what the plugin wrote to its standard output, none of which an error repeats.
Result<ExecCredential> decode_exec_credential(const ExecPlugin& plugin, std::string_view output);

}  // namespace berth
