// SPDX-License-Identifier: Apache-2.0
// ExecLogin: what a kubeconfig's credential plugin printed, kept until it expires or the server has
// refused it. The plugin runs when there is something to send, once for all that wait for it. A
// failure is not kept: the next request asks the plugin again. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/client/exec_credential.h"
#include "controller/io/client_config.h"
#include "controller/live/program_run.h"
#include "controller/live/uv_loop.h"

namespace berth {

class ExecLogin {
 public:
  // Gets what is wrong, in a sentence; empty: there is a credential.
  using Ready = std::function<void(std::string fault)>;

  ExecLogin(UvLoop& loop, const ExecPlugin& plugin);

  // Called at once if a credential is there, else posted.
  void prepare(Ready ready);
  // What was prepared last.
  const ExecCredential& credential() const { return credential_; }
  // Which run of the plugin printed it.
  std::uint64_t run() const { return runs_; }
  // The server refused what that run printed: whoever prepares next has the plugin run again.
  void drop(std::uint64_t run);

 private:
  bool usable() const;
  std::string start();
  void ended(const ProgramEnd& end);
  std::string read(const ProgramEnd& end);

  UvLoop& loop_;
  const ExecPlugin& plugin_;
  ExecCredential credential_;
  bool have_ = false;
  std::uint64_t runs_ = 0;
  std::unique_ptr<ProgramRun> running_;
  std::vector<Ready> waiting_;
};

}  // namespace berth
