// SPDX-License-Identifier: Apache-2.0
// Reads Jobs. A cluster may have as many Jobs as pods, if each pod belongs to its own Job.
#include "apis/base/cut.h"
#include "apis/codec/decode_frame.h"
#include "apis/kinds/pod_requests.h"

namespace berth {
namespace {

// The Job controller writes one line, but other writers may write much more.
constexpr std::size_t kLongestFailure = 300;

// "onPodConditions" of a rule: whether it names the condition that an eviction sets.
bool read_names_disruption(od::value conditions, bool& named, Fault& fault) {
  named = false;
  return each_item(conditions, fault, [&](od::value condition) {
    std::string_view type, status = "True";
    const bool good = each_field(condition, fault, [&](std::string_view key, od::value value) {
      if (key == "type") return read(value, type, fault);
      if (key == "status" && !is_null(value)) return read(value, status, fault);
      return true;
    });
    named = named || (type == "DisruptionTarget" && status == "True");
    return good;
  });
}

// Kubernetes tries the rules in order, and the first match decides. So only rules before an Ignore
// for disruptions can overrule it. A rule on exit codes may match first, because berth does not
// know the container's exit code; a rule on another condition can't.
bool read_ignores_disruptions(od::value policy, bool& ignores, Fault& fault) {
  ignores = false;
  return each_field(policy, fault, [&](std::string_view field, od::value rules) {
    if (field != "rules") return true;
    ignores = false;
    bool decided = false;
    return each_item(rules, fault, [&](od::value rule) {
      std::string_view action;
      bool on_exit_codes = false, on_disruption = false;
      const bool good = each_field(rule, fault, [&](std::string_view key, od::value value) {
        if (key == "action") return read(value, action, fault);
        if (key == "onExitCodes") on_exit_codes = !is_null(value);
        return key != "onPodConditions" || read_names_disruption(value, on_disruption, fault);
      });
      if (decided) return good;
      ignores = action == "Ignore" && on_disruption;
      decided = ignores || (on_exit_codes && action == "FailJob");
      return good;
    });
  });
}

bool read_template(od::value pod_template, Job& job, Fault& fault) {
  PodSpecParts parts;
  parts.of_template = true;
  const bool good = each_field(pod_template, fault, [&](std::string_view key, od::value value) {
    return key != "spec" || read(value, parts, fault);
  });
  job.priority_class_name = std::move(parts.priority_class_name);
  if (good) job.pod_shape = shape_of(std::move(parts));
  return good;
}

template <class Number>
bool read_optional(od::value value, std::optional<Number>& out, Fault& fault) {
  out.reset();
  return is_null(value) || read(value, out.emplace(), fault);
}

bool read_spec(od::value spec, Job& job, Fault& fault) {
  return each_field(spec, fault, [&](std::string_view key, od::value value) {
    if (key == "template") return read_template(value, job, fault);
    if (key == "suspend") return read(value, job.suspended, fault);
    if (key == "parallelism") return read(value, job.parallelism, fault);
    if (key == "completions") return read_optional(value, job.completions, fault);
    if (key == "backoffLimit") return read(value, job.backoff_limit, fault);
    if (key == "activeDeadlineSeconds")
      return read_optional(value, job.active_deadline_seconds, fault);
    if (key == "podFailurePolicy") {
      job.has_failure_policy = !is_null(value);
      return read_ignores_disruptions(value, job.ignores_disruptions, fault);
    }
    if (key == "podReplacementPolicy") {
      std::string_view policy;
      if (!is_null(value) && !read(value, policy, fault)) return false;
      job.replaces_ended_only = policy == "Failed";
      return true;
    }
    if (key != "completionMode") return true;
    std::string_view mode;
    if (!read(value, mode, fault)) return false;
    job.indexed = mode == "Indexed";
    return true;
  });
}

bool read_conditions(od::value conditions, Job& job, Fault& fault) {
  job.has_been_suspended = job.finished = false;
  job.finished_at.reset();
  job.failure = Text();
  return each_item(conditions, fault, [&](od::value condition) {
    std::string_view type, status, message;
    std::optional<Time> since;
    const bool good = each_field(condition, fault, [&](std::string_view key, od::value value) {
      if (key == "type") return read(value, type, fault);
      if (key == "lastTransitionTime") return read(value, since, fault);
      if (key == "message" && !is_null(value)) return read(value, message, fault);
      return key != "status" || read(value, status, fault);
    });
    if (type == "Suspended") job.has_been_suspended = status == "True";
    if ((type == "Complete" || type == "Failed") && status == "True") {
      job.finished = true;
      job.finished_at = since;
      if (type == "Failed") job.failure = Text(head(message, kLongestFailure));
    }
    return good;
  });
}

bool read_uncounted(od::value uncounted, std::int32_t& out, Fault& fault) {
  out = 0;
  return each_field(uncounted, fault, [&](std::string_view, od::value uids) {
    return each_item(uids, fault, [&](od::value) { return ++out > 0; });
  });
}

bool read_status(od::value status, Job& job, Fault& fault) {
  return each_field(status, fault, [&](std::string_view key, od::value value) {
    if (key == "active") return read(value, job.active, fault);
    if (key == "ready") return read(value, job.ready, fault);
    if (key == "terminating") return read(value, job.terminating, fault);
    if (key == "succeeded") return read(value, job.succeeded, fault);
    if (key == "failed") return read(value, job.failed, fault);
    if (key == "startTime") return read(value, job.start_time, fault);
    if (key == "uncountedTerminatedPods") return read_uncounted(value, job.uncounted, fault);
    return key != "conditions" || read_conditions(value, job, fault);
  });
}

}  // namespace

bool read(od::value value, Job& job, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "metadata") return read(field, job.meta, fault);
    if (key == "spec") return read_spec(field, job, fault);
    return key != "status" || read_status(field, job, fault);
  });
}

}  // namespace berth
