// SPDX-License-Identifier: Apache-2.0
#include "controller/live/exec_login.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLimit = 60s;
constexpr std::chrono::milliseconds kLimitWithUser = 5min;  // the user may have to open a browser

// berth's own environment, overridden by the kubeconfig's variables.
std::vector<std::string> environment_of(const ExecPlugin& plugin, bool interactive) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.environment) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = encode_exec_info(plugin, interactive);
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

// Adds the install hint if the program is missing; otherwise the error says enough.
std::string describe_start(const ExecPlugin& plugin, int error) {
  std::string out =
      fmt::format("cannot run the credential plugin {}: {}", plugin.command, std::strerror(error));
  const bool missing = error == ENOENT || error == ENOTDIR;
  if (missing && !plugin.install_hint.empty()) out += "\n\n" + plugin.install_hint;
  return out;
}

}  // namespace

ExecLogin::ExecLogin(UvLoop& loop, const ExecPlugin& plugin) : loop_(loop), plugin_(plugin) {}

bool ExecLogin::usable() const {
  return have_ && (!credential_.expires || loop_.wall_now() < *credential_.expires);
}

void ExecLogin::prepare(Ready ready) {
  if (usable()) return ready("");
  waiting_.push_back(std::move(ready));
  if (running_) return;
  std::string fault = start();
  if (fault.empty()) return;
  loop_.post([waiting = std::exchange(waiting_, {}), fault = std::move(fault)] {
    for (const Ready& waits : waiting) waits(fault);
  });
}

void ExecLogin::drop(std::uint64_t run) {
  if (run == runs_) have_ = false;
}

std::string ExecLogin::start() {
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (plugin_.input == ExecPlugin::Input::kAlways && !terminal) {
    return fmt::format(
        "{}: the credential plugin {} has to ask you (interactiveMode: Always), and standard "
        "input is not a terminal",
        plugin_.where, plugin_.command);
  }
  const bool interactive = terminal && plugin_.input != ExecPlugin::Input::kNever;
  const Program program{.command = plugin_.command,
                        .arguments = plugin_.arguments,
                        .environment = environment_of(plugin_, interactive),
                        .reads_input = interactive,
                        .limit = interactive ? kLimitWithUser : kLimit};
  running_ =
      std::make_unique<ProgramRun>(loop_, program, [this](const ProgramEnd& end) { ended(end); });
  return "";
}

void ExecLogin::ended(const ProgramEnd& end) {
  running_.reset();
  const std::string fault = read(end);
  for (const Ready& waits : std::exchange(waiting_, {})) waits(fault);
}

std::string ExecLogin::read(const ProgramEnd& end) {
  const auto plugin = [this](const std::string& what) {
    return fmt::format("{}: the credential plugin {} {}", plugin_.where, plugin_.command, what);
  };
  if (end.cannot_start != 0)
    return fmt::format("{}: {}", plugin_.where, describe_start(plugin_, end.cannot_start));
  if (end.timed_out) return plugin("was ended: it printed no credential in time");
  if (end.too_much) return plugin("was ended: it printed more than 1 MiB");
  if (end.signal != 0) return plugin(fmt::format("was ended by signal {}", end.signal));
  if (end.exit_code != 0)
    return plugin(fmt::format("failed with exit code {}; its own message is above", end.exit_code));
  Result<ExecCredential> credential = decode_exec_credential(plugin_, end.output);
  if (!credential.has_value()) return plugin("is of no use: " + describe(credential.error()));
  credential_ = *std::move(credential);
  have_ = true;
  ++runs_;
  return "";
}

}  // namespace berth
