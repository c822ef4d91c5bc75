// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_proxy.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/places.h"

namespace berth::test {
namespace {

std::string fault_proxy_program() {
  const std::string command = source_dir() + "/tests/apiserver/build-tools --fault-proxy";
  std::FILE* pipe = popen(command.c_str(), "r");
  char buffer[512] = "";
  const bool read = pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr;
  if (pipe == nullptr || pclose(pipe) != 0 || !read)
    throw std::runtime_error(command + " failed: no fault proxy");
  std::string out = buffer;
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

std::string write_file(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
  return file;
}

}  // namespace

FaultProxy::FaultProxy(ControlPlane& plane, const std::string& user) {
  const int port = free_loopback_port();
  const int control_port = free_loopback_port();
  const Credentials upstream = plane.credentials(user);
  const KeyPair serving = plane.issue_server();
  const std::string stem = fmt::format("{}/fault-proxy-{}", plane.scratch(), port);
  process_ = std::make_unique<Child>(
      std::vector<std::string>{
          fault_proxy_program(), fmt::format("--listen=127.0.0.1:{}", port),
          fmt::format("--control=127.0.0.1:{}", control_port), "--upstream=" + upstream.server,
          "--ca=" + write_file(stem + ".ca", upstream.authority_pem),
          "--cert=" + write_file(stem + ".crt", upstream.certificate_pem),
          "--key=" + write_file(stem + ".key", upstream.key_pem),
          "--serving-cert=" + write_file(stem + ".serving.crt", serving.certificate),
          "--serving-key=" + write_file(stem + ".serving.key", serving.key)},
      stem + ".log");

  // The proxy authenticates to the API server with its own certificate, and needs none from
  // clients.
  credentials_ = upstream;
  credentials_.server = fmt::format("https://127.0.0.1:{}", port);
  kubeconfig_ =
      plane.write_kubeconfig(fmt::format("fault-proxy-{}.kubeconfig", port), credentials_);
  control_ = std::make_unique<Kube>(
      Credentials{fmt::format("http://127.0.0.1:{}", control_port), "", "", ""});
  Kube probe(credentials_);
  wait_until("the fault proxy to forward", std::chrono::seconds(10), [&]() -> std::string {
    if (!process_->running())
      throw std::runtime_error("the fault proxy ended: " + process_->log_tail());
    const Reply reply = probe.send("GET", "/readyz");
    return reply.ok() ? "" : fmt::format("{} {}", reply.status, reply.error);
  });
}

Object FaultProxy::order(const std::string& method, const std::string& path,
                         const std::string& body) {
  const Reply reply = control_->send(method, path, body);
  if (!reply.ok())
    throw std::runtime_error(
        fmt::format("fault proxy: {} {}: {} {}", method, path, reply.status, reply.body.dump()));
  return reply.body;
}

void FaultProxy::add(const FaultRule& rule) {
  const nlohmann::json body = {{"id", rule.id},
                               {"method", rule.method},
                               {"path", rule.path},
                               {"not_path", rule.not_path},
                               {"body", rule.body},
                               {"action", rule.action},
                               {"skip", rule.skip},
                               {"times", rule.times},
                               {"probability", rule.probability},
                               {"status", rule.status},
                               {"retry_after", rule.retry_after},
                               {"delay_ms", rule.delay_ms}};
  order("POST", "/rules", body.dump());
}

void FaultProxy::remove(const std::string& id) { order("DELETE", "/rules?id=" + id); }

int FaultProxy::matched(const std::string& id) {
  return static_cast<int>(order("GET", "/rules?id=" + id).number("/matched"));
}

int FaultProxy::holding(const std::string& id) {
  return static_cast<int>(order("GET", "/rules?id=" + id).number("/holding"));
}

void FaultProxy::cut_watches() { order("POST", "/cut-watches", "{}"); }

}  // namespace berth::test
