// SPDX-License-Identifier: Apache-2.0
// berth-node-agent: the node agent as a program of its own, so that a test can kill or freeze it
// like the real ones.
//   berth-node-agent --server URL --ca FILE --cert FILE --key FILE [--configmap-delay MS]
//   [--apply-time MS] …
#include <fmt/format.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/node_agent.h"

namespace {

using berth::test::NodeAgentOptions;

volatile bool stop = false;

std::string read_file(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  NodeAgentOptions options;
  const std::map<std::string, NodeAgentOptions::Ms*> times = {
      {"--configmap-delay", &options.configmap_delay},
      {"--apply-time", &options.apply_time},
      {"--pod-wait", &options.pod_wait},
      {"--plugin-lag", &options.plugin_lag},
      {"--discovery-lag", &options.discovery_lag},
      {"--capacity-grace", &options.capacity_grace},
      {"--reboot-time", &options.reboot_time},
      {"--operator-lag", &options.operator_lag},
  };
  std::map<std::string, std::string> words = {
      {"--server", ""}, {"--ca", ""}, {"--cert", ""}, {"--key", ""}};
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto time = times.find(argv[i]);
    const auto word = words.find(argv[i]);
    if (time != times.end()) {
      *time->second = NodeAgentOptions::Ms(std::atoll(argv[i + 1]));
    } else if (word != words.end()) {
      word->second = argv[i + 1];
    } else {
      fmt::print(stderr, "berth-node-agent: unknown option {}\n", argv[i]);
      return 2;
    }
  }
  signal(SIGTERM, [](int) { stop = true; });
  signal(SIGINT, [](int) { stop = true; });
  berth::test::NodeAgent agent({words["--server"], read_file(words["--ca"]),
                                read_file(words["--cert"]), read_file(words["--key"])},
                               options);
  agent.run(stop);
}
