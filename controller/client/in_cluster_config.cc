// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string_view>
#include <utility>

#include "controller/client/kubeconfig.h"

namespace berth {
namespace {

std::string path_of(std::string_view file) {
  std::string path = "/var/run/secrets/kubernetes.io/serviceaccount/";
  return path.append(file);
}

bool is_port(const std::string& text) {
  unsigned port = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stopped == end && port >= 1 && port <= 65535;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

Result<ClientConfig> load_in_cluster_config(const Host& host) {
  const std::string address = host.env("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = host.env("KUBERNETES_SERVICE_PORT").value_or("");
  if (address.empty() || address.find_first_of("/?#@\\ \t\r\n") != std::string::npos) {
    return invalid_spec("KUBERNETES_SERVICE_HOST",
                        "\"" + address + "\" is not the host that the kubelet sets in every pod");
  }
  if (!is_port(port)) {
    return invalid_spec("KUBERNETES_SERVICE_PORT", "\"" + port + "\" is not a port");
  }
  ClientConfig config;
  const bool v6 = address.find(':') != std::string::npos && !address.starts_with('[');
  config.server = "https://" + (v6 ? "[" + address + "]" : address) + ":" + port;
  config.token_file = path_of("token");
  config.certificate_authority.file = path_of("ca.crt");
  config.origin = "the pod's service account";
  for (const std::string& file : {config.token_file, config.certificate_authority.file}) {
    const FileText read = host.read_file(file);
    if (read.text) continue;
    return invalid_spec(file, "cannot read it (" + read.error +
                                  "): is automountServiceAccountToken off for this pod?");
  }
  const FileText namespace_ = host.read_file(path_of("namespace"));
  const std::string name = namespace_.text ? trimmed(*namespace_.text) : "";
  if (!name.empty()) config.namespace_ = name;
  return config;
}

}  // namespace berth
