// SPDX-License-Identifier: Apache-2.0
// The hot path: a cluster's pods change all day.
#include "apis/decode_frame.h"
#include "apis/pod_requests.h"

namespace berth {
namespace {

bool read_requests(od::value resources, ResourceList& out, Fault& fault) {
  return each_field(resources, fault, [&](std::string_view key, od::value value) {
    return key != "requests" || read(value, out, fault);
  });
}

bool read_containers(od::value containers, ResourceList& sum, Fault& fault) {
  sum = ResourceList();
  bool first = true;
  return each_item(containers, fault, [&](od::value container) {
    ResourceList requests;
    bool good = each_field(container, fault, [&](std::string_view key, od::value value) {
      return key != "resources" || read_requests(value, requests, fault);
    });
    if (!good) return false;
    if (first)
      sum = std::move(requests);
    else
      add(sum, requests);
    first = false;
    return true;
  });
}

bool read_init_container(od::value container, InitContainer& out, Fault& fault) {
  return each_field(container, fault, [&](std::string_view key, od::value value) {
    if (key == "resources") return read_requests(value, out.requests, fault);
    if (key != "restartPolicy") return true;
    std::string_view policy;
    if (!read(value, policy, fault)) return false;
    out.sidecar = policy == "Always";
    return true;
  });
}

bool read_init_containers(od::value containers, std::vector<InitContainer>& out, Fault& fault) {
  out.clear();
  return each_item(containers, fault, [&](od::value container) {
    return read_init_container(container, out.emplace_back(), fault);
  });
}

bool read_empty_dir(od::value volumes, bool& has_empty_dir, Fault& fault) {
  has_empty_dir = false;
  return each_item(volumes, fault, [&](od::value volume) {
    return each_field(volume, fault, [&](std::string_view key, od::value value) {
      if (key == "emptyDir" && !is_null(value)) has_empty_dir = true;
      return true;
    });
  });
}

bool read_has_items(od::value list, bool& has_items, Fault& fault) {
  has_items = false;
  return each_item(list, fault, [&](od::value) { return has_items = true; });
}

// spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
bool read_node_affinity(od::value affinity, std::vector<NodeSelectorTerm>& out, Fault& fault) {
  out.clear();
  return each_field(affinity, fault, [&](std::string_view kind, od::value node_affinity) {
    if (kind != "nodeAffinity") return true;
    return each_field(node_affinity, fault, [&](std::string_view when, od::value required) {
      if (when != "requiredDuringSchedulingIgnoredDuringExecution") return true;
      return each_field(required, fault, [&](std::string_view key, od::value terms) {
        return key != "nodeSelectorTerms" || read(terms, out, fault);
      });
    });
  });
}

bool read_spec(od::value spec, Pod& pod, PodRequests& requests, Fault& fault) {
  return each_field(spec, fault, [&](std::string_view key, od::value value) {
    switch (key.empty() ? '\0' : key.front()) {
      case 'a':
        return key != "affinity" || read_node_affinity(value, pod.required_node_affinity, fault);
      case 'c':
        return key != "containers" || read_containers(value, requests.containers, fault);
      case 'i':
        return key != "initContainers" || read_init_containers(value, requests.init, fault);
      case 'n':
        if (key == "nodeName") return read(value, pod.node_name, fault);
        if (key == "nodeSelector") return read(value, pod.node_selector, fault);
        return true;
      case 'o':
        return key != "overhead" || read(value, requests.overhead, fault);
      case 'p':
        return key != "priority" || read(value, pod.priority, fault);
      case 'r':
        if (key == "resources") return read_requests(value, requests.pod, fault);
        if (key == "resourceClaims") return read_has_items(value, pod.has_resource_claims, fault);
        return true;
      case 's':
        if (key == "schedulerName") return read(value, pod.scheduler_name, fault);
        if (key == "schedulingGates") return read_has_items(value, pod.gated, fault);
        return true;
      case 't':
        if (key == "tolerations") return read(value, pod.tolerations, fault);
        if (key == "terminationGracePeriodSeconds") {
          return read(value, pod.termination_grace_period_seconds, fault);
        }
        return true;
      case 'v':
        return key != "volumes" || read_empty_dir(value, pod.has_empty_dir, fault);
      default:
        return true;
    }
  });
}

bool read_phase(od::value value, PodPhase& out, Fault& fault) {
  std::string_view phase;
  if (!read(value, phase, fault)) return false;
  out = phase_of(phase);
  return true;
}

bool read_status(od::value status, Pod& pod, Fault& fault) {
  return each_field(status, fault, [&](std::string_view key, od::value value) {
    if (key == "phase") return read_phase(value, pod.phase, fault);
    if (key == "startTime") return read(value, pod.start_time, fault);
    return true;
  });
}

}  // namespace

bool read(od::value value, Toleration& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "key") return read(field, out.key, fault);
    if (key == "operator") return read(field, out.op, fault);
    if (key == "value") return read(field, out.value, fault);
    if (key == "effect") return read(field, out.effect, fault);
    return true;
  });
}

bool read(od::value term, NodeSelectorTerm& out, Fault& fault) {
  return each_field(term, fault, [&](std::string_view key, od::value value) {
    if (key == "matchExpressions") return read(value, out.match_expressions, fault);
    if (key == "matchFields") return read(value, out.match_fields, fault);
    return true;
  });
}

bool read(od::value value, Pod& pod, Fault& fault) {
  PodRequests requests;
  bool good = each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "metadata") return read(field, pod.meta, fault);
    if (key == "spec") return read_spec(field, pod, requests, fault);
    if (key == "status") return read_status(field, pod, fault);
    return true;
  });
  if (good) pod.requests = compute_effective(std::move(requests));
  return good;
}

}  // namespace berth
