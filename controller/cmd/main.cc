// SPDX-License-Identifier: Apache-2.0
// berth's commands. Each consists of a struct of values, a function that lists its flags, a `run_`
// function, and one entry here.
#include <csignal>
#include <string>
#include <string_view>

#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/commands/advise.h"
#include "controller/cmd/commands/certificates.h"
#include "controller/cmd/commands/commands.h"
#include "controller/cmd/commands/history.h"
#include "controller/cmd/commands/import.h"
#include "controller/cmd/commands/log_level.h"
#include "controller/cmd/commands/page.h"
#include "controller/cmd/commands/plan.h"
#include "controller/cmd/commands/release.h"
#include "controller/cmd/commands/report.h"
#include "controller/cmd/commands/simulate.h"
#include "controller/cmd/commands/snapshot.h"
#include "controller/cmd/commands/stop.h"
#include "controller/cmd/commands/top.h"
#include "controller/cmd/commands/ui.h"
#include "controller/cmd/commands/validate.h"
#include "controller/cmd/commands/version.h"
#include "controller/cmd/commands/webhook.h"
#include "controller/cmd/commands/why.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/command_line.h"
#include "controller/cmd/line/completion.h"
#include "controller/cmd/line/flags.h"
#include "controller/cmd/line/help.h"
#include "controller/live/crash_trace.h"

namespace berth {
namespace {

const CommandText kController = {"controller", "Run the operator against a cluster.",
                                 "# What it would do, without writing anything\n"
                                 "berth controller --dry-run\n"
                                 "# Every setting, with the value that it has\n"
                                 "berth controller --print-config"};
const CommandText kWebhook = {"webhook", "Answer the API server's AdmissionReviews.",
                              "berth webhook --cert-dir=/etc/berth/webhook-certificate\n"
                              "berth webhook --print-config"};
const CommandText kCertificates = {"certificates", "Make and renew the webhook's certificates.",
                                   "berth certificates --namespace=berth-system\n"
                                   "berth certificates --print-config"};
const CommandText kPlan = {"plan",
                           "Show what applying some files would do to a cluster, live or saved.",
                           "# To the cluster of the kubeconfig's context\n"
                           "berth plan -f layout.yaml\n"
                           "# How long each node is unavailable, on a simulated copy\n"
                           "berth plan -f layout.yaml --simulate\n"
                           "# To a saved cluster, for a program to read\n"
                           "berth plan -f layout.yaml --snapshot cluster.json -o json\n"
                           "# Whether a Job would start, and who would wait for it\n"
                           "berth plan -f queues.yaml -f job.yaml\n"
                           "# What the deletion of an object would do\n"
                           "berth plan --delete gpupolicy/cluster\n"
                           "# What the controller is about to do anyway\n"
                           "berth plan"};
const CommandText kValidate = {"validate", "Check manifests offline: fields, rules and geometry.",
                               "berth validate -f layout.yaml\n"
                               "# A folder, against nodes of four GPUs\n"
                               "berth validate -f manifests/ --product A100-80GB --gpus 4\n"
                               "# Every layout that a GPU can hold\n"
                               "berth validate --list-layouts H100-80GB"};
const CommandText kImport = {
    "import", "Turn Kueue's queues, mig-parted files and ResourceQuotas into berth's objects.",
    "kubectl get clusterqueues,localqueues,resourceflavors,cohorts -A -o yaml | "
    "berth import -f - > queues.yaml\n"
    "# With the pools that the queues need, as an object\n"
    "berth import -f kueue/ --policy\n"
    "# Layouts of a mig-parted file; nodes get one by a label of yours\n"
    "berth import -f mig-parted.yaml --label-domain node.example.org"};
const CommandText kWhy = {"why", "Explain why a pod or a node waits, and what would help.",
                          "# Everything that waits for GPUs in your namespace\n"
                          "berth why\n"
                          "berth why team-a/train-0\n"
                          "berth why deployment notebook\n"
                          "berth why node/n3 -o json"};
const CommandText kTop = {"top", "Show what queues, namespaces and pools hold and wait for.",
                          "berth top\n"
                          "berth top namespaces --all-namespaces\n"
                          "berth top pools -o json"};
const CommandText kHistory = {"history", "Tell what berth did and why it waited, from its record.",
                              "# Last night\n"
                              "berth history --since 12h\n"
                              "berth history node/n3\n"
                              "berth history job/train -n team-a --since 3d\n"
                              "# Everything that a layout asked for, for a program to read\n"
                              "berth history miglayout/inference -o json"};
const CommandText kPage = {"page", "Write the fleet at a glance as one HTML file.",
                           "berth page > fleet.html\n"
                           "berth page --snapshot cluster.json > fleet.html"};
const CommandText kUi = {"ui", "Show the fleet in a browser on this machine, as it changes.",
                         "berth ui\n"
                         "berth ui --context staging --port 8765\n"
                         "berth ui --snapshot cluster.json"};
const CommandText kAdvise = {
    "advise", "Say what smaller share of GPUs would do, for owners or a model.",
    "berth advise\n"
    "berth advise --model 70B\n"
    "# On one product, eight requests at a time\n"
    "berth advise --model 8B --precision fp8 --sequences 8 --gpu A100-80GB"};
const CommandText kReport = {"report", "Collect what a bug report needs in one archive.",
                             "berth report -o berth-report.tgz\n"
                             "# With other names for nodes, namespaces, pods and workloads\n"
                             "berth report --anonymize"};
const CommandText kStop = {"stop", "Stop at once all that takes nodes or pods away.",
                           "berth stop --reason \"incident 4711\"\n"
                           "berth resume"};
const CommandText kResume = {"resume", "End the stop: berth continues.", "berth resume"};
const CommandText kRelease = {"release", "Let go what waits in queues, past every quota.",
                              "# Before berth is uninstalled: what would start\n"
                              "berth release --all\n"
                              "berth release --all --yes\n"
                              "berth release -n team-a --yes"};
const CommandText kSnapshot = {"snapshot", "Save what `berth plan --snapshot` needs of a cluster.",
                               "berth snapshot -o cluster.json\n"
                               "berth snapshot --context staging -o - | gzip > cluster.json.gz"};
const CommandText kSimulate = {"simulate", "Play a scenario on a simulated cluster.",
                               "berth simulate -f examples/simulation/headline.yaml\n"
                               "# Another order of what happens at once, for a program to read\n"
                               "berth simulate -f scenario.yaml --seed 7 -o json"};
const CommandText kLogLevel = {
    "log-level", "Change the log level of a berth that runs.",
    "kubectl -n berth-system exec deploy/berth -- berth log-level debug\n"
    "kubectl -n berth-system exec deploy/berth -- berth log-level flag"};
const CommandText kVersion = {"version", "Print which berth this is.",
                              "berth version\n"
                              "berth version -o json"};
const CommandText kCompletion = {"completion",
                                 "Print a script that completes berth's command line.",
                                 "source <(berth completion bash)\n"
                                 "source <(berth completion zsh)\n"
                                 "berth completion fish | source"};
const CommandText kHelp = {"help", "Describe a command, or all of them as a manual page.",
                           "berth help plan\n"
                           "berth help -o man | man -l -"};

// kubectl runs kubectl-berth as `kubectl berth`.
std::string called_as(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "kubectl-berth" ? "kubectl berth" : "berth";
}

int run(int argc, char** argv) {
  CommandLine line(called_as(argc > 0 ? argv[0] : ""),
                   "Plans and carries out how a cluster's GPUs are partitioned.",
                   "berth " + summary(build_facts()));
  ControllerFlags controller;
  line.add(kController, controller_flags(controller), [&] { return run_controller(controller); });
  WebhookFlags webhook;
  line.add(kWebhook, webhook_flags(webhook), [&] { return run_webhook(webhook); });
  CertificatesFlags certificates;
  line.add(kCertificates, certificates_flags(certificates),
           [&] { return run_certificates(certificates); });
  PlanFlags plan;
  line.add(kPlan, plan_flags(plan), [&] { return run_plan(plan); });
  ValidateFlags validate;
  line.add(kValidate, validate_flags(validate), [&] { return run_validate(validate); });
  ImportFlags import;
  line.add(kImport, import_flags(import), [&] { return run_import(import); });
  WhyFlags why;
  line.add(kWhy, why_flags(why), [&] { return run_why(why); });
  TopFlags top;
  line.add(kTop, top_flags(top), [&] { return run_top(top); });
  HistoryFlags history;
  line.add(kHistory, history_flags(history), [&] { return run_history(history); });
  PageFlags page;
  line.add(kPage, page_flags(page), [&] { return run_page(page); });
  UiFlags ui;
  line.add(kUi, ui_flags(ui), [&] { return run_ui(ui); });
  AdviseFlags advise;
  line.add(kAdvise, advise_flags(advise), [&] { return run_advise(advise); });
  SnapshotFlags snapshot;
  line.add(kSnapshot, snapshot_flags(snapshot), [&] { return run_snapshot(snapshot); });
  ReportFlags report;
  line.add(kReport, report_flags(report), [&] { return run_report(report); });
  StopFlags stop;
  line.add(kStop, stop_flags(stop), [&] { return run_stop(stop); });
  ResumeFlags resume;
  line.add(kResume, resume_flags(resume), [&] { return run_resume(resume); });
  ReleaseFlags release;
  line.add(kRelease, release_flags(release), [&] { return run_release(release); });
  SimulateFlags simulate;
  line.add(kSimulate, simulate_flags(simulate), [&] { return run_simulate(simulate); });
  LogLevelFlags log_level;
  line.add(kLogLevel, log_level_flags(log_level), [&] { return run_log_level(log_level); });
  VersionFlags version;
  line.add(kVersion, version_flags(version), [&] { return run_version(version); });
  CompletionFlags completion;
  line.add(kCompletion, completion_flags(completion),
           [&] { return run_completion(completion, line.tree()); });
  HelpFlags help;
  line.add(kHelp, help_flags(help), [&] { return run_help(help, line); });
  return line.run(argc, argv);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  berth::leave_crash_traces(berth::build_facts().version);
  // The signals of `berth log-level` must not end a process that has no handler yet.
  std::signal(berth::kDebugSignal, SIG_IGN);
  std::signal(berth::kFlagLevelSignal, SIG_IGN);
  return berth::run(argc, argv);
}
