// SPDX-License-Identifier: Apache-2.0
// ExecLogin: keeps the credential that a kubeconfig's plugin printed, until it expires or the
// server refuses it. The plugin runs when berth has something to send, once for all waiting
// requests. A failure is not kept: the next request runs the plugin again. Loop thread only.
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
  // Gets the error as a sentence; empty: there is a credential.
  using Ready = std::function<void(std::string fault)>;

  ExecLogin(UvLoop& loop, const ExecPlugin& plugin);

  // Calls `ready` at once if there is a credential, else posts it.
  void prepare(Ready ready);
  // The credential of the last prepare().
  const ExecCredential& credential() const { return credential_; }
  // The number of the plugin run that printed it.
  std::uint64_t run() const { return runs_; }
  // The server refused the credential of that run: the next prepare() runs the plugin again.
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
