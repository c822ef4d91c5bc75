// SPDX-License-Identifier: Apache-2.0
#include "tests/support/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/support/places.h"

namespace berth::test {
namespace {

std::string write_file(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
  return file;
}

}  // namespace

std::unique_ptr<Child> start_node_agent(ControlPlane& plane,
                                        const std::vector<std::string>& flags) {
  const Credentials credentials = plane.credentials("node-agent");
  const std::string stem = plane.scratch() + "/node-agent";
  std::vector<std::string> argv = {binary_dir() + "/berth-node-agent",
                                   "--server",
                                   credentials.server,
                                   "--ca",
                                   write_file(stem + ".ca", credentials.authority_pem),
                                   "--cert",
                                   write_file(stem + ".crt", credentials.certificate_pem),
                                   "--key",
                                   write_file(stem + ".key", credentials.key_pem)};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return std::make_unique<Child>(argv, stem + ".log");
}

std::string berth_program() {
  const char* given = std::getenv("BERTH_BINARY");
  return given != nullptr && *given != '\0' ? given : binary_dir() + "/berth";
}

std::vector<std::string> Berth::short_times() {
  return {"--settle=300ms",
          "--verify-for=500ms",
          "--agent-configmap-delay=1s",
          "--answer-ttl=2s",
          "--retry-backoff=500ms",
          "--abort-backoff=2s",
          "--eviction-retry=500ms",
          "--leader-elect-lease-duration=20s",
          "--leader-elect-renew-deadline=16s",
          "--leader-elect-retry-period=500ms"};
}

Berth::Berth(ControlPlane& plane) : Berth(plane, Options{}) {}

Berth::Berth(ControlPlane& plane, const Options& options)
    : metrics_port_(free_loopback_port()), health_port_(free_loopback_port()) {
  const std::string kubeconfig =
      options.kubeconfig.empty() ? plane.write_kubeconfig("berth") : options.kubeconfig;
  std::vector<std::string> argv = {
      berth_program(), "controller", "--kubeconfig=" + kubeconfig,
      fmt::format("--metrics-bind-address=127.0.0.1:{}", metrics_port_),
      fmt::format("--health-probe-bind-address=127.0.0.1:{}", health_port_)};
  if (options.dry_run) argv.push_back("--dry-run");
  for (const std::string& flag : short_times()) {
    const std::string name = flag.substr(0, flag.find('=') + 1);  // a flag may be given only once
    if (std::none_of(options.flags.begin(), options.flags.end(),
                     [&](const std::string& given) { return given.rfind(name, 0) == 0; }))
      argv.push_back(flag);
  }
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  process_ = std::make_unique<Child>(argv, plane.scratch() + "/" + options.name + ".log");
}

}  // namespace berth::test
