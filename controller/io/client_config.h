// SPDX-License-Identifier: Apache-2.0
// ClientConfig: the address of one API server, how berth verifies it, and berth's own credentials.
// client/kubeconfig.h fills it and the transport reads it. Paths are already resolved: absolute, or
// relative to the working directory.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

// PEM text, inline or from a file. Inline wins. The file is reread, because it may be replaced at
// run time. Both empty: not given.
struct PemSource {
  std::string data;
  std::string file;
  bool empty() const { return data.empty() && file.empty(); }
};

// A program that prints credentials: `exec` in a kubeconfig.
struct ExecPlugin {
  enum class Input { kNever, kIfAvailable, kAlways };  // whether it may prompt the user
  std::string where;                                   // the kubeconfig field, for messages
  std::string api_version;                             // client.authentication.k8s.io/v1 or v1beta1
  std::string command;                                 // a path, or a name to find in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // added to berth's own
  Input input = Input::kIfAvailable;
  std::string install_hint;  // for a user who has not installed it
  std::string cluster;       // JSON for its spec.cluster; empty: not requested
};

struct ClientConfig {
  std::string
      server;  // "https://10.0.0.1:6443", perhaps with a path prefix; never a slash at the end
  PemSource certificate_authority;  // empty: the system's authorities
  PemSource client_certificate;
  PemSource client_key;
  std::string token_file;  // wins over token; re-read, because bound tokens live for an hour
  std::string token;
  std::string username;  // basic authentication; both or neither
  std::string password;
  std::optional<ExecPlugin> exec;  // only without other credentials above
  std::string
      tls_server_name;  // the name the certificate must carry, if it is not the server's host
  bool insecure_skip_tls_verify = false;  // only true if a flag allowed it too
  std::string proxy_url;                  // empty: HTTPS_PROXY and NO_PROXY
  bool without_proxy = false;             // ignore these variables
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;

  std::string namespace_ = "default";
  std::string
      origin;  // for messages: "context prod of /home/u/.kube/config", "the pod's service account"
};

}  // namespace berth
