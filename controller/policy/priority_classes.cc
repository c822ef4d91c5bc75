// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/priority_classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

constexpr char kOwner[] = "GPUClusterPolicy/cluster";
constexpr char kNever[] = "Never";

bool is_berths(const PriorityClass& made) {
  return made.meta.annotations.get(names::kOwnerAnnotation) == kOwner;
}

Write write_of(Verb verb, const std::string& name, const std::string& uid, std::string reason) {
  Write write;
  write.verb = verb;
  write.object = {std::string(kKind<PriorityClass>.kind), {}, name, uid};
  write.field_manager = names::kManagerPolicy;
  write.reason = std::move(reason);
  return write;
}

// A create fails if another user's object has the name. An apply would take it over.
Write create(const PriorityClassSpec& spec) {
  Write write =
      write_of(Verb::kCreate, spec.name, {}, "the policy names it in spec.priorityClasses");
  write.body = fmt::format(
      R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":{},)"
      R"("labels":{{"{}":"berth"}},"annotations":{{"{}":"{}"}}}},"value":{},)"
      R"("preemptionPolicy":"{}","description":"Made by berth for its GPUClusterPolicy."}})",
      quote_json(spec.name), names::kManagedByLabel, names::kOwnerAnnotation, kOwner, spec.value,
      kNever);
  return write;
}

void add(Plan& plan, Write write) {
  const ObjectRef object = write.object;
  plan.add(object, std::move(write));
}

}  // namespace

PriorityClassPlan plan_priority_classes(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        Plan& plan) {
  PriorityClassPlan out;
  std::vector<PriorityClassSpec> wanted;
  if (!policy.meta.deletion_timestamp) wanted = policy.spec.priority_classes;
  for (const PriorityClassSpec& spec : wanted) {
    const PriorityClass* made = snapshot.cluster.priority_classes().find(spec.name);
    if (made == nullptr) {
      add(plan, create(spec));
      ++out.changing;
    } else if (!is_berths(*made)) {
      out.taken.push_back(spec.name);
    }
  }
  for (const auto& made : snapshot.cluster.priority_classes()) {
    if (!is_berths(*made)) continue;
    ++out.standing;
    const auto spec = std::ranges::find(wanted, made->meta.name, &PriorityClassSpec::name);
    if (spec != wanted.end() && spec->value == made->value && made->preemption_policy == kNever &&
        !made->global_default)
      continue;
    ++out.changing;
    if (made->meta.deletion_timestamp) continue;
    add(plan, write_of(Verb::kDelete, made->meta.name, made->meta.uid,
                       spec == wanted.end()
                           ? "the policy does not name it any more"
                           : fmt::format("its value becomes {}, which only a new one can have",
                                         spec->value)));
  }
  return out;
}

}  // namespace berth
