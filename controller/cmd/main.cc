// SPDX-License-Identifier: Apache-2.0
// The command line: tables of flags (flags.h) become CLI11 options. The one file that includes it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "controller/cmd/certificates.h"
#include "controller/cmd/commands.h"
#include "controller/cmd/console.h"
#include "controller/cmd/flags.h"
#include "controller/cmd/plan.h"
#include "controller/cmd/simulate.h"
#include "controller/cmd/snapshot.h"
#include "controller/cmd/validate.h"
#include "controller/cmd/webhook.h"
#include "controller/cmd/why.h"

namespace berth {
namespace {

// Exit code for a command line that cannot be obeyed: 1, as for every other error.
constexpr int kUsageError = 1;

// One subcommand while the command line is read: its flags, and where CLI11 puts their texts.
class Command {
 public:
  Command(CLI::App& app, const std::string& name, const std::string& help, FlagTable table,
          std::function<int()> run)
      : app_(app.add_subcommand(name, help)), table_(std::move(table)), run_(std::move(run)) {
    for (const Flag& flag : table_) add(flag);
  }

  bool chosen() const { return app_->parsed(); }

  int run() {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (options_[i]->count() == 0) continue;
      const bool list = table_[i].kind == Flag::Kind::kList;
      for (const std::string& text : list ? lists_[i] : std::vector<std::string>{texts_[i]}) {
        const Result<void> set = table_[i].set(text);
        if (set.has_value()) continue;
        return complain("berth", set.error());
      }
    }
    return run_();
  }

 private:
  void add(const Flag& flag) {
    std::string& text = texts_.emplace_back();
    std::vector<std::string>& list = lists_.emplace_back();
    switch (flag.kind) {
      case Flag::Kind::kSwitch:
        options_.push_back(app_->add_flag(flag.name, text, flag.help));
        break;
      case Flag::Kind::kList:
        options_.push_back(app_->add_option(flag.name, list, flag.help)->take_all());
        break;
      case Flag::Kind::kValue:
      case Flag::Kind::kPositional:
        options_.push_back(app_->add_option(flag.name, text, flag.help));
        break;
    }
    const std::string shown = flag.show ? flag.show() : std::string();
    if (!shown.empty()) options_.back()->default_str(shown);
  }

  CLI::App* app_;
  FlagTable table_;
  std::function<int()> run_;
  std::deque<std::string> texts_;  // a deque: CLI11 keeps references
  std::deque<std::vector<std::string>> lists_;
  std::vector<CLI::Option*> options_;
};

int run(int argc, char** argv) {
  CLI::App app{"Plans and carries out how a cluster's GPUs are partitioned.", "berth"};
  app.require_subcommand(1);
  std::deque<Command> commands;

  ControllerFlags controller;
  commands.emplace_back(app, "controller", "Run the operator against a cluster.",
                        controller_flags(controller), [&] { return run_controller(controller); });
  WebhookFlags webhook;
  commands.emplace_back(app, "webhook", "Answer the API server's AdmissionReviews.",
                        webhook_flags(webhook), [&] { return run_webhook(webhook); });
  CertificatesFlags certificates;
  commands.emplace_back(app, "certificates", "Make and renew the webhook's certificates.",
                        certificates_flags(certificates),
                        [&] { return run_certificates(certificates); });
  PlanFlags plan;
  commands.emplace_back(app, "plan",
                        "Show what applying some files would do to a cluster, live or saved.",
                        plan_flags(plan), [&] { return run_plan(plan); });
  ValidateFlags validate;
  commands.emplace_back(app, "validate", "Check manifests offline: fields, rules and geometry.",
                        validate_flags(validate), [&] { return run_validate(validate); });
  WhyFlags why;
  commands.emplace_back(app, "why", "Explain why a pod or a node waits, and what would help.",
                        why_flags(why), [&] { return run_why(why); });
  SnapshotFlags snapshot;
  commands.emplace_back(app, "snapshot", "Save what `berth plan --snapshot` needs of a cluster.",
                        snapshot_flags(snapshot), [&] { return run_snapshot(snapshot); });
  SimulateFlags simulate;
  commands.emplace_back(app, "simulate", "Play a scenario on a simulated cluster.",
                        simulate_flags(simulate), [&] { return run_simulate(simulate); });
  commands.emplace_back(app, "version", "Print the version.", FlagTable{}, run_version);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  for (Command& command : commands)
    if (command.chosen()) return command.run();
  return kUsageError;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { return berth::run(argc, argv); }
