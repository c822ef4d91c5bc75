// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/admission/pod_slice.h"

namespace berth {
namespace {

// More than any real pod has, and few enough to compare with every node.
constexpr std::size_t kMaxPlacementTerms = 1024;  // keys and values of nodeSelector and affinity
constexpr std::string_view kCdiPrefix = "cdi.k8s.io/";  // the runtime injects devices by these
constexpr std::size_t kMaxGpuAmounts = 1024;            // of all containers together

bool read_present(dom::element value, bool& present) { return present = !value.is_null(); }

class PodReader {
 public:
  PodReader(PodSlice& pod, Fault& fault) : pod_(pod), fault_(fault) {}

  bool read_pod(dom::element object) {
    return each_field(object, fault_, [&](std::string_view key, dom::element value) {
      if (key == "metadata")
        return read_metadata(value) && (pod_.home == PodHome::kJob || read_queued(value));
      return key != "spec" || read_spec(value);
    });
  }

  // spec.template of a Job is read as a pod.
  bool read_job(dom::element object) {
    return each_field(object, fault_, [&](std::string_view key, dom::element spec) {
      if (key == "metadata") return read_queued(spec);
      if (key != "spec") return true;
      return each_field(spec, fault_, [&](std::string_view field, dom::element value) {
        if (field == "suspend") return read(value, pod_.queued.suspended, fault_);
        if (field == "parallelism") return read(value, pod_.queued.parallelism, fault_);
        if (field == "podReplacementPolicy") return read(value, pod_.queued.replacement, fault_);
        if (field == "activeDeadlineSeconds")
          return read_optional(value, pod_.queued.active_deadline);
        return field != "template" || read_pod(value);
      });
    });
  }

 private:
  bool read_metadata(dom::element metadata) {
    pod_.has_annotations = false;
    if (!read_present(metadata, pod_.has_metadata)) return true;
    return each_field(metadata, fault_, [&](std::string_view key, dom::element value) {
      if (key != "annotations" || !read_present(value, pod_.has_annotations)) return true;
      return each_field(value, fault_, [&](std::string_view name, dom::element text) {
        if (name.starts_with(kCdiPrefix)) pod_.cdi_annotation = name;
        if (name == names::kRequiredCudaAnnotation) return read(text, pod_.required_cuda, fault_);
        if (name == names::kRequiredGpuMemoryAnnotation)
          return read(text, pod_.required_memory, fault_);
        return name != names::kMutationsAnnotation || read(text, pod_.mutations, fault_);
      });
    });
  }

  // Reads the metadata of the reviewed object itself, not of a template.
  bool read_queued(dom::element metadata) {
    QueuedSlice& of = pod_.queued;
    return each_field(metadata, fault_, [&](std::string_view key, dom::element value) {
      if (key == "uid") return read(value, of.uid, fault_);
      if (key == "labels") return !read_present(value, of.has_labels) || read_labels(value);
      if (key == "annotations") return read_annotations(value);
      return key != "ownerReferences" || read_owners(value);
    });
  }

  bool read_labels(dom::element labels) {
    return each_field(labels, fault_, [&](std::string_view name, dom::element text) {
      if (name == names::kQueueLabel) return read(text, pod_.queued.queue, fault_);
      if (name == names::kPriorityClassLabel) return read(text, pod_.queued.priority_class, fault_);
      return name != names::kKueueQueueLabel || read(text, pod_.queued.kueue_queue, fault_);
    });
  }

  bool read_annotations(dom::element annotations) {
    return each_field(annotations, fault_, [&](std::string_view name, dom::element text) {
      QueuedSlice& of = pod_.queued;
      if (name == names::kRequiredTopologyAnnotation) of.requires_topology = true;
      if (name == names::kPodGroupSizeAnnotation)
        return read(text, of.group_size.emplace(), fault_);
      if (name == names::kPodRoleSizeAnnotation) return read(text, of.role_size.emplace(), fault_);
      if (name == names::kFastAdmissionAnnotation) return read(text, of.fast.emplace(), fault_);
      return name != names::kAdmittedAnnotation || read(text, pod_.queued.admitted, fault_);
    });
  }

  bool read_owners(dom::element owners) {
    return each_item(owners, kMaxPodItems, fault_, [&](dom::element owner) {
      bool controls = false;
      std::string_view kind, uid;
      const bool good = each_field(owner, fault_, [&](std::string_view key, dom::element value) {
        if (key == "controller") return read(value, controls, fault_);
        if (key == "kind") return read(value, kind, fault_);
        return key != "uid" || read(value, uid, fault_);
      });
      if (good && controls) pod_.queued.owner_kind = kind, pod_.queued.owner_uid = uid;
      return good;
    });
  }

  bool read_optional(dom::element value, std::optional<std::int64_t>& out) {
    out.reset();
    return value.is_null() || read(value, out.emplace(), fault_);
  }

  bool read_gates(dom::element gates) {
    pod_.queued.gated = false;
    if (!read_present(gates, pod_.queued.has_gates)) return true;
    return each_item(gates, kMaxPodItems, fault_, [&](dom::element gate) {
      return each_field(gate, fault_, [&](std::string_view key, dom::element value) {
        std::string_view name;
        if (key != "name" || !read(value, name, fault_)) return key != "name";
        pod_.queued.gated = pod_.queued.gated || name == names::kQueueGate;
        return true;
      });
    });
  }

  bool read_spec(dom::element spec) {
    return each_field(spec, fault_, [&](std::string_view key, dom::element value) {
      if (key == "containers") return read_list(value, ContainerList::kMain);
      if (key == "initContainers") return read_list(value, ContainerList::kInit);
      if (key == "ephemeralContainers") {
        pod_.ephemeral.clear();
        return read_containers(value, ContainerList::kEphemeral, pod_.ephemeral, fault_);
      }
      if (key == "nodeName") return read(value, pod_.node_name, fault_);
      if (key == "schedulingGates" && pod_.home == PodHome::kPod) return read_gates(value);
      if (key == "nodeSelector") return count(value) && read(value, pod_.node_selector, fault_);
      if (key == "affinity") return read_affinity(value);
      if (key == "tolerations")
        return !read_present(value, pod_.has_tolerations) ||
               read(value, pod_.tolerations, kMaxPodItems, fault_);
      if (key == "volumes") return read_volumes(value);
      if (key == "securityContext") return read_security(value);
      if (key == "priorityClassName") return read(value, pod_.priority_class_name, fault_);
      if (key == "priority") (void)read_present(value, pod_.has_priority);
      if (key == "preemptionPolicy") (void)read_present(value, pod_.has_preemption_policy);
      if (key == "resourceClaims") pod_.has_claims = value.is_array() && size_of(value) > 0;
      if (key == "terminationGracePeriodSeconds") return read_optional(value, pod_.grace);
      if (key == "hostIPC") return read(value, pod_.host_ipc, fault_);
      if (key == "os") return read_os(value);
      return true;
    });
  }

  bool read_list(dom::element list, ContainerList which) {
    std::erase_if(pod_.containers, [&](const ContainerSlice& c) { return c.list == which; });
    if (!read_containers(list, which, pod_.containers, fault_)) return false;
    std::size_t amounts = 0;
    for (const ContainerSlice& container : pod_.containers) amounts += container.gpus.size();
    return amounts <= kMaxGpuAmounts ||
           fault_.bad(fmt::format("name GPU resources {} times; berth reads {} of them", amounts,
                                  kMaxGpuAmounts));
  }

  // Counts the items to be compared with nodes, before they are read.
  bool count(dom::element list) {
    placement_ += size_of(list);
    return placement_ <= kMaxPlacementTerms ||
           fault_.bad(fmt::format("nodeSelector and node affinity hold more keys and values than "
                                  "berth looks at, which is {}",
                                  kMaxPlacementTerms));
  }

  bool read_affinity(dom::element affinity) {
    pod_.has_node_affinity = pod_.has_required_affinity = false;
    pod_.terms.clear();
    if (!read_present(affinity, pod_.has_affinity)) return true;
    return each_field(affinity, fault_, [&](std::string_view kind, dom::element node_affinity) {
      if (kind != "nodeAffinity" || !read_present(node_affinity, pod_.has_node_affinity))
        return true;
      return each_field(node_affinity, fault_, [&](std::string_view when, dom::element required) {
        if (when != "requiredDuringSchedulingIgnoredDuringExecution") return true;
        return !read_present(required, pod_.has_required_affinity) || read_required(required);
      });
    });
  }

  bool read_required(dom::element required) {
    return each_field(required, fault_, [&](std::string_view key, dom::element terms) {
      if (key != "nodeSelectorTerms") return true;
      return count(terms) && each_item(terms, kAnyNumber, fault_, [&](dom::element term) {
               return read_term(term, pod_.terms.emplace_back());
             });
    });
  }

  bool read_term(dom::element value, TermSlice& out) {
    return each_field(value, fault_, [&](std::string_view key, dom::element list) {
      if (key == "matchFields") return read_requirements(list, out.term.match_fields);
      if (key != "matchExpressions" || !read_present(list, out.has_expressions)) return true;
      return read_requirements(list, out.term.match_expressions);
    });
  }

  bool read_requirements(dom::element list, std::vector<SelectorRequirement>& out) {
    out.clear();
    return count(list) && each_item(list, kAnyNumber, fault_, [&](dom::element item) {
             return count_values(item) && read(item, out.emplace_back(), fault_);
           });
  }

  bool count_values(dom::element requirement) {
    return each_field(requirement, fault_, [&](std::string_view key, dom::element values) {
      return key != "values" || count(values);
    });
  }

  bool read_volumes(dom::element volumes) {
    pod_.volume_names.clear();
    pod_.host_paths.clear();
    if (!read_present(volumes, pod_.has_volumes)) return true;
    std::size_t index = 0;
    return each_item(volumes, kMaxPodItems, fault_,
                     [&](dom::element volume) { return read_volume(volume, index++); });
  }

  bool read_volume(dom::element volume, std::size_t index) {
    std::string_view name, medium, path;
    const auto read_member = [&](dom::element of, std::string_view member, std::string_view& out) {
      return each_field(of, fault_, [&](std::string_view field, dom::element text) {
        return field != member || read(text, out, fault_);
      });
    };
    const bool good = each_field(volume, fault_, [&](std::string_view key, dom::element value) {
      if (key == "name") return read(value, name, fault_);
      if (key == "emptyDir") return read_member(value, "medium", medium);
      return key != "hostPath" || read_member(value, "path", path);
    });
    if (!good) return false;
    pod_.volume_names.push_back(name);
    if (name == kSharedMemoryVolume && medium == "Memory") pod_.has_shared_memory_volume = true;
    if (!path.empty()) judge_host_path(index, path);
    return true;
  }

  void judge_host_path(std::size_t index, std::string_view path) {
    const HostReach reach = reach_of(path);
    if (reach != HostReach::kNothing)
      pod_.host_paths.push_back({.volume = index, .path = path, .reach = reach});
  }

  bool read_security(dom::element context) {
    if (!read_present(context, pod_.has_security_context)) return true;
    return each_field(context, fault_, [&](std::string_view key, dom::element value) {
      if (key == "runAsNonRoot") (void)read_present(value, pod_.says_run_as_non_root);
      if (key == "seccompProfile") (void)read_present(value, pod_.says_seccomp);
      if (key != "runAsUser" || value.is_null()) return true;
      std::int64_t user = 0;
      if (!read(value, user, fault_)) return false;
      pod_.runs_as_root = user == 0;
      return true;
    });
  }

  bool read_os(dom::element os) {
    return each_field(os, fault_, [&](std::string_view key, dom::element value) {
      if (key != "name") return true;
      std::string_view name;
      if (!read(value, name, fault_)) return false;
      pod_.is_windows = name == "windows";
      return true;
    });
  }

  PodSlice& pod_;
  Fault& fault_;
  std::size_t placement_ = 0;
};

}  // namespace

bool read_pod_slice(dom::element object, PodSlice& out, Fault& fault) {
  PodReader reader(out, fault);
  return out.home == PodHome::kJob ? reader.read_job(object) : reader.read_pod(object);
}

}  // namespace berth
