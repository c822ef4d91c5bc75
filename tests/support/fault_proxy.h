// SPDX-License-Identifier: Apache-2.0
// FaultProxy: a TLS proxy in front of the API server that injects faults on request (see
// tests/apiserver/faultproxy/main.go). The tested berth uses the proxy's kubeconfig; the test
// itself connects to the API server directly. Needs a Go toolchain once, or its cached binary.
#pragma once

#include <memory>
#include <string>

#include "tests/support/control_plane.h"

namespace berth::test {

struct FaultRule {
  std::string id;
  std::string method;       // "" = any
  std::string path;         // regular expression over path and query; "" = any
  std::string not_path;     // and not this path
  std::string body;         // regular expression over the request's body; "" = any
  std::string action;       // lose, hold, hold-reply, drop-reply, status, delay
  int skip = 0;             // this many matching requests pass first
  int times = 0;            // 0 = without end
  double probability = 0;   // 0 = always
  int status = 0;           // for action status
  std::string retry_after;  // for action status
  int delay_ms = 0;         // for action delay
};

class FaultProxy {
 public:
  explicit FaultProxy(ControlPlane& plane, const std::string& user = "berth");

  const std::string& kubeconfig() const { return kubeconfig_; }
  const Credentials& credentials() const { return credentials_; }
  void add(const FaultRule& rule);     // replaces the rule of that id
  void remove(const std::string& id);  // requests that it holds continue
  void release(const std::string& id) { remove(id); }
  int matched(const std::string& id);
  int holding(const std::string& id);
  void cut_watches();

 private:
  Object order(const std::string& method, const std::string& path, const std::string& body = "");

  Credentials credentials_;
  std::string kubeconfig_;
  std::unique_ptr<Kube> control_;
  std::unique_ptr<Child> process_;
};

}  // namespace berth::test
