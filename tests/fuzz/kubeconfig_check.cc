// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "controller/client/exec_credential.h"
#include "controller/client/kubeconfig.h"
#include "controller/client/kubeconfig_file.h"
#include "tests/client/fake_host.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

constexpr char kKubeconfig[] = "/a/config";

// libFuzzer copies parts of its input: a text that occurs twice may be a secret in one place and a
// name, which a message may repeat, in the other.
bool stands_twice(std::string_view text, const std::string& secret) {
  const std::size_t first = text.find(secret);
  return first != text.npos && text.find(secret, first + 1) != text.npos;
}

// Whether the message contains a secret of the file, except where libFuzzer has put parts of a
// message into a token.
std::string check_secrets(std::string_view text, const std::string& message,
                          std::initializer_list<std::string> secrets) {
  for (const std::string& secret : secrets)
    if (secret.size() >= 12 && secret.find(' ') == secret.npos && !stands_twice(text, secret) &&
        message.find(secret) != message.npos)
      return "a secret is told: " + message;
  return {};
}

std::string check_users(std::string_view text, const Kubeconfig& config,
                        const std::string& message) {
  for (const auto& [name, user] : config.users)
    if (std::string told =
            check_secrets(text, message, {user.token, user.client_key.data, user.password});
        !told.empty())
      return told;
  return {};
}

}  // namespace

Verdict check_kubeconfig(std::string_view text) {
  const Result<Kubeconfig> config = parse_kubeconfig(std::string(text), kKubeconfig);
  if (!config.has_value())
    return {.wrong =
                config.error().where.starts_with(kKubeconfig) ? "" : "an error without its file"};
  // Merged with itself it is unchanged, and a choice from it gives a result or an error.
  Kubeconfig merged = *config;
  merge_kubeconfig(merged, *config);
  Verdict verdict{.read = true};
  if (merged.users.size() != config->users.size()) verdict.wrong = "merged into another";
  FakeHost host;
  host.files[kKubeconfig] = text;
  for (const ExecPlugins plugins : {ExecPlugins::kRefused, ExecPlugins::kAccepted}) {
    const Result<ClientConfig> chosen =
        load_client_config(host, {.kubeconfig = kKubeconfig}, plugins);
    if (chosen.has_value()) continue;
    const std::string message = describe(chosen.error());
    if (message.empty()) verdict.wrong = "an error without words";
    if (std::string told = check_users(text, *config, message); !told.empty()) verdict.wrong = told;
  }
  return verdict;
}

Verdict check_exec_credential(std::string_view output) {
  const ExecPlugin plugin{.where = "users[0].user.exec",
                          .api_version = "client.authentication.k8s.io/v1",
                          .command = "login"};
  const Result<ExecCredential> credential = decode_exec_credential(plugin, output);
  if (credential.has_value()) {
    const bool pair = credential->certificate.empty() == credential->key.empty();
    const bool any = !credential->token.empty() || !credential->certificate.empty();
    const bool one_line = credential->token.find_first_of("\r\n") == std::string::npos;
    return {.wrong = !pair || !any ? "half a credential"
                     : !one_line   ? "a token that would end its header"
                                   : "",
            .read = true};
  }
  const std::string message = describe(credential.error());
  if (message.empty()) return {.wrong = "an error without words"};
  const nlohmann::json json = nlohmann::json::parse(output, nullptr, false);
  if (!json.is_object() || !json.contains("status") || !json["status"].is_object()) return {};
  for (const char* secret : {"token", "clientKeyData"}) {
    const auto found = json["status"].find(secret);
    if (found != json["status"].end() && found->is_string() &&
        plugin.api_version.find(found->get<std::string>()) == std::string::npos)
      if (std::string told = check_secrets(output, message, {found->get<std::string>()});
          !told.empty())
        return {.wrong = told};
  }
  return {};
}

}  // namespace berth::test
