// SPDX-License-Identifier: Apache-2.0
// The programs a plane test starts beside the control plane: the node agent, and berth itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/control_plane.h"

namespace berth::test {

// The node agent of tests/support/node_agent.h, as a process. `flags` as in node_agent_main.cc:
// {"--apply-time", "50"}.
std::unique_ptr<Child> start_node_agent(ControlPlane& plane,
                                        const std::vector<std::string>& flags = {});

// One `berth controller`. Killing it is Child's business: process().kill_now(), freeze(), thaw(),
// stop(). Starting another Berth with the same name is a restart; two with different names at once
// are two replicas.
class Berth {
 public:
  struct Options {
    std::string name = "berth";      // of its log file
    std::string kubeconfig;          // empty: straight to the API server, as user "berth"
    std::vector<std::string> flags;  // after the short times below; a later flag wins
    bool dry_run = false;
  };
  // Times of a test: settle 300 ms, verify 500 ms, back-offs around a second. A lease of 20 s: a
  // busy machine must not cost the lead.
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

// $BERTH_BINARY, else the berth of this build folder.
std::string berth_program();

}  // namespace berth::test
