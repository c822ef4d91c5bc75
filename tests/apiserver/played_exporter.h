// SPDX-License-Identifier: Apache-2.0
// PlayedExporter: simulates a node's dcgm-exporter: its pod on the real API server, and a server at
// the pod's address, which is a loopback address of its own.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/apiserver/plane_fixture.h"
#include "tests/live/tls_server.h"

namespace berth::test {

class PlayedExporter {
 public:
  // `says` returns the body of each answer.
  explicit PlayedExporter(std::function<std::string()> says)
      : address_(next_address()),
        server_({.plain = true, .address = address_, .port = 9400},
                [says = std::move(says)](const TlsServer::Request&, TlsServer::Connection& to) {
                  to.reply(200, says(), "Content-Type: text/plain; version=0.0.4\r\n");
                  return true;
                }) {}

  const std::string& address() const { return address_; }
  int connections() const { return server_.connections(); }

  // Its pod runs on the node, and the kubelet has reported its address.
  void run_on(Kube& kube, const std::string& node) {
    const std::string name = "nvidia-dcgm-exporter-" + node;
    kube.apply(
        fmt::format("apiVersion: v1\nkind: Pod\n"
                    "metadata: {{name: {}, namespace: gpu-operator, labels: {{app: "
                    "nvidia-dcgm-exporter}}}}\n"
                    "spec: {{nodeName: {}, terminationGracePeriodSeconds: 1, tolerations: "
                    "[{{operator: Exists}}], containers: [{{name: main, image: exporter}}]}}\n",
                    name, node));
    wait_until("the exporter's pod to run", std::chrono::seconds(60), [&]() -> std::string {
      const std::string phase = kube.get({"pods", name, "gpu-operator"}).text("/status/phase");
      return phase == "Running" ? "" : phase;
    });
    move_to(kube, node, address_);
  }
  // As after a new sandbox.
  static void move_to(Kube& kube, const std::string& node, const std::string& address) {
    kube.patch(
        {"pods", "nvidia-dcgm-exporter-" + node, "gpu-operator"}, PatchType::kMerge,
        fmt::format(R"({{"status": {{"podIP": "{0}", "podIPs": [{{"ip": "{0}"}}]}}}})", address),
        "status");
  }

 private:
  static std::string next_address() {
    static int made = 0;
    const int pid = static_cast<int>(getpid());
    return fmt::format("127.{}.{}.{}", 64 + pid / 256 % 64, pid % 256, ++made);
  }

  const std::string address_;
  TlsServer server_;
};

}  // namespace berth::test
