// SPDX-License-Identifier: Apache-2.0
// berth-plane: a real control plane with simulated GPU nodes, in the foreground until SIGINT or
// SIGTERM. Once everything runs, it prints one line on stdout, the path of a kubeconfig; its log
// goes to stderr.
//   berth-plane [--nodes 8] [--gpus 4] [--product NVIDIA-A100-SXM4-80GB] [--workload]
//               [--kubeconfig FILE] [--apply-time MS]
// --workload puts GPU pods of a Deployment on two of the nodes. --kubeconfig also copies the
// kubeconfig to FILE.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "tests/support/cluster.h"
#include "tests/support/control_plane.h"
#include "tests/support/programs.h"

namespace {

using namespace berth::test;

volatile sig_atomic_t stopped = 0;

struct Flags {
  std::map<std::string, std::string> words = {{"--nodes", "8"},
                                              {"--gpus", "4"},
                                              {"--product", "NVIDIA-A100-SXM4-80GB"},
                                              {"--kubeconfig", ""},
                                              {"--apply-time", "1500"}};
  bool workload = false;
};

bool parse(int argc, char** argv, Flags& flags) {
  for (int i = 1; i < argc; ++i) {
    const auto word = flags.words.find(argv[i]);
    if (std::strcmp(argv[i], "--workload") == 0) {
      flags.workload = true;
    } else if (word != flags.words.end() && i + 1 < argc) {
      word->second = argv[++i];
    } else {
      fmt::print(stderr, "berth-plane: unknown option {}\n", argv[i]);
      return false;
    }
  }
  return true;
}

void run(const Flags& flags) {
  fmt::print(stderr,
             "booting etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok …\n");
  ControlPlane plane;
  const auto agent = start_node_agent(plane, {"--apply-time", flags.words.at("--apply-time")});
  Cluster cluster(plane.kube());
  cluster.install_agents();
  const int nodes = std::atoi(flags.words.at("--nodes").c_str());
  const int gpus = std::atoi(flags.words.at("--gpus").c_str());
  cluster.add_gpu_nodes(nodes, {.product = flags.words.at("--product"), .gpus = gpus});
  cluster.wait_agents_running();
  if (flags.workload) {
    cluster.add_deployment({.name = "serve", .replicas = 2, .count = gpus});
    cluster.wait_pods_running("team-a", "serve", 2);
  }
  const std::string own = plane.scratch() + "/admin.kubeconfig";
  const std::string copy = flags.words.at("--kubeconfig");
  if (!copy.empty())
    std::filesystem::copy_file(own, copy, std::filesystem::copy_options::overwrite_existing);
  fmt::print(stderr, "{} nodes with {} × {} are ready; {}\n", nodes, gpus,
             flags.words.at("--product"), plane.describe());
  fmt::print("{}\n", copy.empty() ? own : copy);
  std::fflush(stdout);
  while (stopped == 0) pause();
  if (!copy.empty()) std::filesystem::remove(copy);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  if (!parse(argc, argv, flags)) return 2;
  // No SA_RESTART: pause() returns, and destructors end the children. A signal during the start
  // ends the program, and the kernel then ends the children.
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  try {
    run(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "berth-plane: {}\n", error.what());
    return 1;
  }
}
