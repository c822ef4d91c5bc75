// SPDX-License-Identifier: Apache-2.0
// Outline: one function for each field that may be missing. Each notes its repair for the
// annotation, which is written last. FMT_COMPILE keeps the formatting of large patches fast.
#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apis/base/names.h"
#include "controller/admission/pod_review.h"
#include "controller/core/json_patch.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

constexpr std::string_view kSeparator = "; ";

class Repairs {
 public:
  Repairs(const PodReview& review, ReviewFindings& findings)
      : pod_(review.pod),
        review_(review),
        defaults_(review.policy.spec.admission.defaults),
        findings_(findings) {}

  PodPatch compute() {
    add_limits();
    if (!review_.placement.demands.empty()) {
      if (defaults_.tolerations) add_tolerations();
      if (defaults_.pool_affinity) add_pool_affinity();
      if (defaults_.shared_memory) add_shared_memory();
      if (defaults_.security_context && !pod_.is_windows) add_security_context();
      if (!defaults_.priority_class_name.empty()) add_priority_class();
    }
    if (!done_.empty()) annotate();
    return std::move(patch_);
  }

 private:
  // An extended resource needs a limit equal to its request; the server only fills in the request.
  void add_limits() {
    std::vector<std::string_view> resources;
    for (const ContainerSlice& container : pod_.containers) {
      const std::string limits = pod_.pointer(container) + "/resources/limits";
      bool there = container.has_limits;
      for (const GpuAmount& amount : container.gpus) {
        if (amount.limit || !amount.request || amount.resource == kLegacyGpu) continue;
        if (!amount.request->as_whole() || *amount.request < Quantity()) continue;
        if (!there) patch_.add(limits, "{}");
        there = true;
        patch_.add_text(fmt::format(FMT_COMPILE("{}/{}"), limits, escape_pointer(amount.resource)),
                        amount.request->str());
        resources.push_back(amount.resource);
      }
    }
    note("limits", std::move(resources));
  }

  void add_tolerations() {
    std::vector<std::string> items;
    std::vector<std::string_view> keys;
    const bool anew = seeded(SeededBug::kMutateAgain);
    const std::vector<Taint> taints =
        untolerated(review_.pools, anew ? std::vector<Toleration>() : pod_.tolerations);
    for (const Taint& taint : taints) {
      const std::string value = taint.value.empty()
                                    ? R"("operator":"Exists")"
                                    : fmt::format(FMT_COMPILE(R"("operator":"Equal","value":{})"),
                                                  quote_json(taint.value));
      items.push_back(fmt::format(FMT_COMPILE(R"({{"key":{},{},"effect":{}}})"),
                                  quote_json(taint.key), value, quote_json(taint.effect)));
      keys.push_back(taint.key.view());
    }
    add_items(pod_.pointer("tolerations"), pod_.has_tolerations, items);
    note("tolerations", std::move(keys));
  }

  void add_pool_affinity() {
    const PoolChoice& pools = review_.pools;
    if (pools.targets.empty()) return;
    std::vector<std::string> values;
    std::vector<std::string_view> pool_names;
    for (const PoolSpec* pool : pools.targets) {
      values.push_back(quote_json(pool->name));
      pool_names.push_back(pool->name);
    }
    const std::string requirement =
        fmt::format(FMT_COMPILE(R"({{"key":"{}","operator":"In","values":[{}]}})"),
                    names::kPoolLabel, fmt::join(values, ","));
    const bool changed = pod_.terms.empty() ? add_term(requirement) : add_to_terms(requirement);
    if (changed) note("poolAffinity", std::move(pool_names));
  }

  // Adds the first term, with its missing parents.
  bool add_term(const std::string& requirement) {
    if (holds_to(review_.pools, review_.placement, nullptr)) return false;
    const std::string terms = fmt::format(
        FMT_COMPILE(R"({{"nodeSelectorTerms":[{{"matchExpressions":[{}]}}]}})"), requirement);
    constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
    const std::string affinity = pod_.pointer("affinity");
    if (!pod_.has_affinity)
      patch_.add(affinity,
                 fmt::format(FMT_COMPILE(R"({{"nodeAffinity":{{"{}":{}}}}})"), kRequired, terms));
    else if (!pod_.has_node_affinity)
      patch_.add(affinity + "/nodeAffinity",
                 fmt::format(FMT_COMPILE(R"({{"{}":{}}})"), kRequired, terms));
    else if (!pod_.has_required_affinity)
      patch_.add(fmt::format(FMT_COMPILE("{}/nodeAffinity/{}"), affinity, kRequired), terms);
    else
      return false;  // the server refuses a list without terms
    return true;
  }

  // A pod needs only one term, so each must hold to the pools. An empty term must stay empty: it
  // matches no node.
  bool add_to_terms(const std::string& requirement) {
    const std::string terms = pod_.pointer(
        "affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    bool changed = false;
    for (std::size_t i = 0; i < pod_.terms.size(); ++i) {
      const TermSlice& term = pod_.terms[i];
      if (term.empty() || holds_to(review_.pools, review_.placement, &term.term)) continue;
      add_items(fmt::format(FMT_COMPILE("{}/{}/matchExpressions"), terms, i), term.has_expressions,
                {requirement});
      changed = true;
    }
    return changed;
  }

  // Processes that train together exchange data through shared memory, and a container has only
  // 64Mi of it by default.
  void add_shared_memory() {
    if (pod_.host_ipc) return;
    std::vector<std::string_view> containers;
    std::string volume(kSharedMemoryVolume);
    if (!pod_.has_shared_memory_volume) volume = free_volume_name();
    const std::string size = in_binary(*defaults_.shared_memory);
    for (const ContainerSlice& container : pod_.containers) {
      if (!wants_shared_memory(container)) continue;
      if (containers.empty() && !pod_.has_shared_memory_volume)
        add_items(
            pod_.pointer("volumes"), pod_.has_volumes,
            {fmt::format(
                FMT_COMPILE(R"({{"name":"{}","emptyDir":{{"medium":"Memory","sizeLimit":"{}"}}}})"),
                volume, size)});
      add_items(pod_.pointer(container) + "/volumeMounts", container.has_volume_mounts,
                {fmt::format(FMT_COMPILE(R"({{"name":"{}","mountPath":"/dev/shm"}})"), volume)});
      containers.push_back(container.name);
      warn_of_memory(container, size);
    }
    if (!containers.empty()) note("sharedMemory", {size});
  }

  void warn_of_memory(const ContainerSlice& container, const std::string& size) {
    const std::optional<Quantity>& limit = container.memory_limit;
    const std::string field = pod_.field(container) + ".resources.limits[memory]";
    if (!limit)
      findings_.warn(
          field, fmt::format(FMT_COMPILE("berth mounted /dev/shm of up to {}, which counts as the "
                                         "container's memory; leave room for it in a memory limit"),
                             size));
    else
      findings_.warn(
          field,
          fmt::format(
              FMT_COMPILE("berth mounted /dev/shm of up to {}, which counts against the limit of "
                          "{}{}"),
              size, in_binary(*limit),
              *limit <= *defaults_.shared_memory
                  ? ": filling it would end the container; raise the limit"
                  : ""));
  }

  std::string free_volume_name() const {
    const std::set<std::string_view> taken(pod_.volume_names.begin(), pod_.volume_names.end());
    std::string name(kSharedMemoryVolume);
    for (int i = 2; taken.contains(name); ++i)
      name = fmt::format(FMT_COMPILE("{}-{}"), kSharedMemoryVolume, i);
    return name;
  }

  void add_security_context() {
    bool changed = add_pod_security();
    for (const ContainerSlice& container : pod_.containers) {
      // The server refuses allowPrivilegeEscalation: false with these.
      if (container.says_privilege_escalation || container.privileged || container.adds_sys_admin)
        continue;
      const std::string context = pod_.pointer(container) + "/securityContext";
      if (!container.has_security_context) patch_.add(context, "{}");
      patch_.add(context + "/allowPrivilegeEscalation", "false");
      changed = true;
    }
    if (changed) note("securityContext", {});
  }

  bool add_pod_security() {
    // A container whose user chose root explicitly would not start with runAsNonRoot.
    const bool root_on_purpose =
        pod_.runs_as_root || std::ranges::any_of(pod_.containers, [](const ContainerSlice& c) {
          return c.runs_as_root && !c.says_run_as_non_root;
        });
    const bool non_root = !pod_.says_run_as_non_root && !root_on_purpose;
    if (!non_root && pod_.says_seccomp) return false;
    const std::string context = pod_.pointer("securityContext");
    if (!pod_.has_security_context) patch_.add(context, "{}");
    if (non_root) patch_.add(context + "/runAsNonRoot", "true");
    if (!pod_.says_seccomp) patch_.add(context + "/seccompProfile", R"({"type":"RuntimeDefault"})");
    return true;
  }

  // The server has already computed the pod's priority without a class, and refuses a class with
  // another priority.
  void add_priority_class() {
    if (!pod_.priority_class_name.empty()) return;
    const std::string& name = defaults_.priority_class_name;
    if (review_.cluster.priority_classes().find(name) == nullptr)
      return findings_.warn(
          pod_.field("priorityClassName"),
          fmt::format(
              FMT_COMPILE(
                  "the policy's default is {}, and there is no such PriorityClass; none was set"),
              name));
    patch_.add_text(pod_.pointer("priorityClassName"), name);
    if (pod_.has_priority) patch_.remove(pod_.pointer("priority"));
    if (pod_.has_preemption_policy) patch_.remove(pod_.pointer("preemptionPolicy"));
    note("priorityClassName", {name});
  }

  void annotate() {
    // berth never writes a longer one.
    constexpr std::size_t kMaxKept = 1024;
    std::string text = fmt::format(FMT_COMPILE("{}"), fmt::join(done_, kSeparator));
    if (!pod_.mutations.empty() && pod_.mutations.size() <= kMaxKept)
      text = fmt::format(FMT_COMPILE("{}{}{}"), pod_.mutations, kSeparator, text);
    const std::string metadata = pod_.metadata_pointer();
    if (!pod_.has_metadata) patch_.add(metadata, "{}");
    if (!pod_.has_annotations) patch_.add(metadata + "/annotations", "{}");
    patch_.add_text(fmt::format(FMT_COMPILE("{}/annotations/{}"), metadata,
                                escape_pointer(names::kMutationsAnnotation)),
                    text);
  }

  void add_items(const std::string& list, bool there, const std::vector<std::string>& items) {
    if (items.empty()) return;
    if (!there) return patch_.add(list, fmt::format(FMT_COMPILE("[{}]"), fmt::join(items, ",")));
    for (const std::string& item : items) patch_.add(list + "/-", item);
  }

  // For example "limits nvidia.com/gpu": the repair, and the first few of its subjects.
  void note(std::string_view what, std::vector<std::string_view> of) {
    constexpr std::size_t kNamed = 4;
    if (of.empty() && what != "securityContext") return;
    std::ranges::sort(of);
    const auto rest = std::ranges::unique(of);
    of.erase(rest.begin(), rest.end());
    std::string text(what);
    for (std::size_t i = 0; i < std::min(of.size(), kNamed); ++i)
      text.append(i == 0 ? " " : ",").append(shorten(of[i]));
    if (of.size() > kNamed) text += ",…";
    done_.push_back(std::move(text));
  }

  const PodSlice& pod_;
  const PodReview& review_;
  const AdmissionDefaults& defaults_;
  ReviewFindings& findings_;
  PodPatch patch_;
  std::vector<std::string> done_;
};

}  // namespace

PodPatch compute_repairs(const PodReview& review, ReviewFindings& findings) {
  // The scheduler does not read tolerations and affinity of a pod that has a node.
  if (!review.pod.node_name.empty()) return {};
  return Repairs(review, findings).compute();
}

}  // namespace berth
