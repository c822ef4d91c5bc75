// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/why.h"

#include "controller/cmd/cluster_dump.h"
#include "controller/cmd/console.h"
#include "controller/live/tz_database.h"
#include "controller/preview/why_node.h"
#include "controller/preview/why_pod.h"
#include "controller/preview/why_subject.h"

namespace berth {
namespace {

int fail(const Error& error) { return complain("berth why", error); }

Explanation explain(const Snapshot& snapshot, const Subject& subject) {
  return subject.node != nullptr ? explain_node(snapshot, *subject.node)
                                 : explain_pod(snapshot, *subject.pod);
}

// Of the settings, where things are; how patient berth is makes no answer another.
bool says_where(const Flag& flag) {
  return flag.name.ends_with("namespace") || flag.name == "--mig-config-map" ||
         flag.name == "--mig-manager-daemon-set";
}

}  // namespace

FlagTable why_flags(WhyFlags& flags) {
  FlagTable table = {
      text_flag("SUBJECT", flags.subject,
                "NAMESPACE/NAME or pod/NAME of a pod, job/NAME for the Job's pod that waits or is "
                "newest, node/NAME of a node, or a bare NAME: a node if one is so named, else a "
                "pod"),
      text_flag("-n,--namespace", flags.namespace_, "namespace of a pod that names none"),
      file_flag("--snapshot", flags.snapshot,
                "look into this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json"}, "how the answer is written"),
  };
  table.front().kind = Flag::Kind::kPositional;
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) {
    // Who asks about a pod means the pod's namespace, as with kubectl.
    if (flag.name == "--namespace") flag.name = "--berth-namespace";
    if (says_where(flag)) table.push_back(std::move(flag));
  }
  return table;
}

int run_why(const WhyFlags& flags) {
  if (flags.subject.empty())
    return fail(invalid_spec("SUBJECT", "name a pod (NAMESPACE/NAME) or a node (node/NAME)"));
  const Result<ClusterDump> dump = read_cluster(flags.snapshot, flags.connection, flags.settings);
  if (!dump) return fail(dump.error());
  const ClusterState& cluster = dump->dump.cluster;
  const Result<Subject> subject = find_subject(cluster, flags.subject, flags.namespace_);
  if (!subject) return fail(subject.error());

  const Answers answers;
  const TzDatabase zones;
  const Snapshot snapshot{.cluster = cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = dump->dump.taken_at,
                          .offline = true,
                          .zones = zones};
  const Explanation explanation = explain(snapshot, *subject);
  put(flags.output == "json" ? print_json(explanation) : print_text(explanation));
  return 0;
}

}  // namespace berth
