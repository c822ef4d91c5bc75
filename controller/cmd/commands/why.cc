// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/why.h"

#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/line/console.h"
#include "controller/explain/controller_lease.h"
#include "controller/explain/explain.h"
#include "controller/explain/subject.h"
#include "controller/explain/waiting_list.h"
#include "controller/live/tz_database.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

int fail(const Error& error) { return complain("berth why", error); }

template <class Answer>
int answer(const Answer& what, const std::string& output) {
  put(output == "text"   ? print_text(what)
      : output == "json" ? print_json(what)
                         : json_to_yaml(print_json(what)));
  return 0;
}

// Only settings about where objects are; timeouts do not change the answers.
bool says_where(const Flag& flag) {
  return flag.name.ends_with("namespace") || flag.name == "--mig-config-map" ||
         flag.name == "--mig-manager-daemon-set";
}

Result<std::string> namespace_for(const WhyFlags& flags) {
  if (!flags.namespace_.empty()) return flags.namespace_;
  if (!flags.snapshot.empty()) return std::string("default");
  return namespace_of(flags.connection);
}

}  // namespace

FlagTable why_flags(WhyFlags& flags) {
  FlagTable table = {
      words_flag(
          "SUBJECT", flags.subject,
          "what is asked about: KIND/NAME or KIND NAME, with KIND pod, deploy, rs, sts, job, "
          "cronjob, node or migl; NAMESPACE/NAME of a pod; or a bare NAME, a node's if one is "
          "so named, else a pod's. Without it: everything that waits for GPUs, a line each"),
      text_flag("-n,--namespace", flags.namespace_,
                "namespace of what names none; else the one of the kubeconfig's context"),
      switch_flag("-A,--all-namespaces", flags.all_namespaces,
                  "without SUBJECT: what waits in any namespace"),
      file_flag("--snapshot", flags.snapshot,
                "look into this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"},
                  "how the answer is written"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) {
    // For this command --namespace is the pod's namespace, as in kubectl.
    if (flag.name == "--namespace") flag.name = "--berth-namespace";
    if (says_where(flag)) table.push_back(std::move(flag));
  }
  return table;
}

int run_why(const WhyFlags& flags) {
  const bool list = flags.subject.empty();
  if (flags.all_namespaces && !list)
    return fail(invalid_spec("-A", "goes without SUBJECT: it lists what waits in any namespace"));
  Result<std::string> namespace_ = namespace_for(flags);
  if (!namespace_) return fail(namespace_.error());
  DumpQuery query{.settings = flags.settings, .workloads = true, .tolerant = true};
  SubjectName asked;
  if (!list) {
    Result<SubjectName> parsed = parse_subject(flags.subject, *namespace_);
    if (!parsed) return fail(parsed.error());
    asked = *std::move(parsed);
    query.namespace_ = asked.namespace_;
    query.workloads =
        asked.kind != SubjectName::Kind::kNode && asked.kind != SubjectName::Kind::kLayout;
  } else if (!flags.all_namespaces) {
    query.namespace_ = *namespace_;
  }

  const Result<ClusterDump> read = read_cluster(flags.snapshot, flags.connection, query);
  if (!read) return fail(read.error());
  const Dump& dump = read->dump;
  const Answers answers;
  const TzDatabase zones;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = dump.taken_at,
                          .offline = true,
                          .zones = zones,
                          .attention = leader_attention(dump.clues)};
  if (list) return answer(list_waiting(snapshot, query.namespace_, dump.clues), flags.output);
  const Result<Subject> subject = find_subject(dump.cluster, dump.clues, asked);
  if (!subject) return fail(subject.error());
  return answer(explain(snapshot, *subject, dump.clues), flags.output);
}

}  // namespace berth
