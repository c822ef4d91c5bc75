// SPDX-License-Identifier: Apache-2.0
// ClientConfig: where one API server is, how it is recognised, and who we are to it.
// client/kubeconfig.h fills it; the transport reads it. Paths are absolute or relative to the
// working directory: resolving them is over by then.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

// PEM text given inline or by file. Inline wins; a file may be replaced under us and is re-read.
// Both empty: not given.
struct PemSource {
  std::string data;
  std::string file;
  bool empty() const { return data.empty() && file.empty(); }
};

// A program that prints what to log in with: a kubeconfig's `exec`.
struct ExecPlugin {
  enum class Input { kNever, kIfAvailable, kAlways };  // whether it may ask the user
  std::string where;                                   // the field that names it, for messages
  std::string api_version;                             // client.authentication.k8s.io/v1 or v1beta1
  std::string command;                                 // a path, or a name to look for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // added to berth's own
  Input input = Input::kIfAvailable;
  std::string install_hint;  // for a user who has not got it
  std::string cluster;       // the JSON of spec.cluster that it is told; empty: it asked for none
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
  std::optional<ExecPlugin> exec;  // only if nothing above says who we are
  std::string
      tls_server_name;  // the name the certificate must carry, if it is not the server's host
  bool insecure_skip_tls_verify = false;  // only ever true if a flag said so too
  std::string proxy_url;                  // empty: HTTPS_PROXY and NO_PROXY
  bool without_proxy = false;             // whatever the environment says
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;

  std::string namespace_ = "default";
  std::string
      origin;  // for people: "context prod of /home/u/.kube/config", "the pod's service account"
};

}  // namespace berth
