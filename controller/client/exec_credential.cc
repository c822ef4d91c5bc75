// SPDX-License-Identifier: Apache-2.0
#include "controller/client/exec_credential.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/base64.h"

namespace berth {
namespace {

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// HTTP headers can't contain control characters: the transport would silently drop such a token.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The text of an object's member; empty if it is absent. The first wrong type becomes the error.
std::string read_text(const nlohmann::json& object, const char* member, Result<void>& checked) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  if (checked.has_value())
    checked = decode_error("", std::string("its ") + member + " is not a string");
  return {};
}

}  // namespace

Result<void> check_exec_plugin(const ExecPlugin& plugin, const std::string& input) {
  const std::string& version = plugin.api_version;
  if (version != "client.authentication.k8s.io/v1" &&
      version != "client.authentication.k8s.io/v1beta1") {
    return invalid_spec(plugin.where + ".apiVersion",
                        "must be client.authentication.k8s.io/v1 or /v1beta1, not \"" + version +
                            "\": a newer version of the plugin may speak it");
  }
  if (plugin.command.empty()) return invalid_spec(plugin.where + ".command", "is missing");
  for (const auto& [name, value] : plugin.environment) {
    if (name.empty() || name.find('=') != std::string::npos)
      return invalid_spec(plugin.where + ".env", "\"" + name + "\" is not a variable's name");
  }
  if (input.empty() && version.ends_with("/v1")) {
    return invalid_spec(plugin.where + ".interactiveMode",
                        "is missing, and v1 requires it: write Never, IfAvailable or Always");
  }
  if (!input.empty() && input != "Never" && input != "IfAvailable" && input != "Always") {
    return invalid_spec(plugin.where + ".interactiveMode",
                        "must be Never, IfAvailable or Always, not \"" + input + "\"");
  }
  return {};
}

std::string encode_exec_cluster(const Host& host, const KubeCluster& cluster) {
  nlohmann::json told = {{"server", cluster.server}};
  if (!cluster.tls_server_name.empty()) told["tls-server-name"] = cluster.tls_server_name;
  if (cluster.insecure_skip_tls_verify) told["insecure-skip-tls-verify"] = true;
  if (!cluster.proxy_url.empty()) told["proxy-url"] = cluster.proxy_url;
  std::string authority = cluster.certificate_authority.data;
  if (!cluster.certificate_authority.file.empty())
    authority = host.read_file(cluster.certificate_authority.file).text.value_or("");
  if (!authority.empty()) told["certificate-authority-data"] = encode_base64(authority);
  if (!cluster.exec_config.empty())
    told["config"] = nlohmann::json::parse(cluster.exec_config, nullptr, false);
  return dump(told);
}

std::string encode_exec_info(const ExecPlugin& plugin, bool interactive) {
  nlohmann::json info = {{"kind", "ExecCredential"},
                         {"apiVersion", plugin.api_version},
                         {"spec", {{"interactive", interactive}}}};
  if (!plugin.cluster.empty())
    info["spec"]["cluster"] = nlohmann::json::parse(plugin.cluster, nullptr, false);
  return dump(info);
}

Result<ExecCredential> decode_exec_credential(const ExecPlugin& plugin, std::string_view output) {
  const nlohmann::json reply = nlohmann::json::parse(output, nullptr, false);
  if (!reply.is_object()) return decode_error("", "what it printed is not a JSON object");
  Result<void> checked;
  const std::string kind = read_text(reply, "kind", checked);
  const std::string version = read_text(reply, "apiVersion", checked);
  if (checked.has_value() && kind != "ExecCredential")
    return decode_error("", "it printed a \"" + kind + "\" instead of an ExecCredential");
  if (checked.has_value() && version != plugin.api_version) {
    return decode_error("", "it printed apiVersion \"" + version + "\" where the kubeconfig says " +
                                plugin.api_version + ": make them the same");
  }
  const auto status = reply.find("status");
  if (checked.has_value() && (status == reply.end() || !status->is_object()))
    return decode_error("", "what it printed has no status");
  ExecCredential credential;
  std::string expires;
  if (checked.has_value()) {
    credential.token = read_text(*status, "token", checked);
    credential.certificate = read_text(*status, "clientCertificateData", checked);
    credential.key = read_text(*status, "clientKeyData", checked);
    expires = read_text(*status, "expirationTimestamp", checked);
  }
  if (!checked.has_value()) return checked.error();
  if (credential.certificate.empty() != credential.key.empty()) {
    return decode_error("",
                        "clientCertificateData and clientKeyData belong together: it printed "
                        "one of them");
  }
  if (credential.token.empty() && credential.certificate.empty())
    return decode_error("", "it printed neither a token nor a client certificate");
  if (std::ranges::any_of(credential.token, is_control))
    return decode_error("", "its token has a line break or another control character in it");
  if (!expires.empty()) {
    const Result<Time> time = parse_time(expires);
    if (!time.has_value()) return decode_error("", "its expirationTimestamp is not a time");
    credential.expires = *time;
  }
  return credential;
}

}  // namespace berth
