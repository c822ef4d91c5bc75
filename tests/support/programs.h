// SPDX-License-Identifier: Apache-2.0
// The programs that a plane test starts in addition to the control plane: the node agent, and
// berth.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/control_plane.h"

namespace berth::test {

// The node agent of tests/support/node_agent.h, as a process. `flags` as in node_agent_main.cc, for
// example {"--apply-time", "50"}.
std::unique_ptr<Child> start_node_agent(ControlPlane& plane,
                                        const std::vector<std::string>& flags = {});

// One `berth controller`. To kill it use its Child: process().kill_now(), freeze(), thaw(), stop().
// Another Berth with the same name is a restart; two with different names at the same time are two
// replicas.
class Berth {
 public:
  struct Options {
    std::string name = "berth";      // the name of its log file
    std::string kubeconfig;          // empty: directly to the API server, as user "berth"
    std::vector<std::string> flags;  // added to the short times below; a later flag wins
    bool dry_run = false;
  };
  // Short times for tests: settle 300 ms, verify 500 ms, back-offs around a second. The lease lasts
  // 20 s, so that a busy machine does not lose the lead.
  static std::vector<std::string> short_times();

  explicit Berth(ControlPlane& plane);
  Berth(ControlPlane& plane, const Options& options);

  Child& process() { return *process_; }
  const std::string& log_file() const { return process_->log_file(); }
  int metrics_port() const { return metrics_port_; }
  int health_port() const { return health_port_; }

 private:
  int metrics_port_ = 0;
  int health_port_ = 0;
  std::unique_ptr<Child> process_;
};

// $BERTH_BINARY, else the berth in this build folder.
std::string berth_program();

}  // namespace berth::test
