// SPDX-License-Identifier: Apache-2.0
// Reads pods. This is the hot path: a cluster's pods change all day.
#include "apis/codec/decode_frame.h"
#include "apis/kinds/pod_requests.h"
#include "apis/kinds/pod_trouble.h"

namespace berth {
namespace {

// If a pod has only limits, the API server copies them to its requests, but not in templates.
bool read_requests(od::value resources, ResourceList& out, bool of_template, Fault& fault) {
  ResourceList limits;
  const bool good = each_field(resources, fault, [&](std::string_view key, od::value value) {
    if (key == "limits" && of_template) return read(value, limits, fault);
    return key != "requests" || read(value, out, fault);
  });
  for (const auto& [resource, limit] : limits)
    if (!out.contains(resource)) out.set(resource, limit);
  return good;
}

bool read_host_ports(od::value ports, bool& has_host_ports, Fault& fault) {
  return each_item(ports, fault, [&](od::value port) {
    return each_field(port, fault, [&](std::string_view key, od::value value) {
      if (key != "hostPort") return true;
      std::int64_t number = 0;
      if (!read(value, number, fault)) return false;
      has_host_ports = has_host_ports || number != 0;
      return true;
    });
  });
}

bool read_containers(od::value containers, ResourceList& sum, bool& has_host_ports,
                     bool of_template, Fault& fault) {
  sum = ResourceList();
  has_host_ports = false;
  bool first = true;
  return each_item(containers, fault, [&](od::value container) {
    ResourceList requests;
    bool good = each_field(container, fault, [&](std::string_view key, od::value value) {
      if (key == "ports") return read_host_ports(value, has_host_ports, fault);
      return key != "resources" || read_requests(value, requests, of_template, fault);
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

bool read_init_container(od::value container, InitContainer& out, bool& has_host_ports,
                         bool of_template, Fault& fault) {
  return each_field(container, fault, [&](std::string_view key, od::value value) {
    if (key == "resources") return read_requests(value, out.requests, of_template, fault);
    if (key == "ports") return read_host_ports(value, has_host_ports, fault);
    if (key != "restartPolicy") return true;
    std::string_view policy;
    if (!read(value, policy, fault)) return false;
    out.sidecar = policy == "Always";
    return true;
  });
}

bool read_init_containers(od::value containers, std::vector<InitContainer>& out,
                          bool& has_host_ports, bool of_template, Fault& fault) {
  out.clear();
  has_host_ports = false;
  return each_item(containers, fault, [&](od::value container) {
    return read_init_container(container, out.emplace_back(), has_host_ports, of_template, fault);
  });
}

bool read_volumes(od::value volumes, bool& has_empty_dir, bool& bound, Fault& fault) {
  has_empty_dir = bound = false;
  return each_item(volumes, fault, [&](od::value volume) {
    return each_field(volume, fault, [&](std::string_view key, od::value value) {
      if (is_null(value)) return true;
      if (key == "emptyDir") has_empty_dir = true;
      bound = bound || binds_to_nodes(key);
      return true;
    });
  });
}

bool read_gates(od::value gates, std::vector<Text>& out, Fault& fault) {
  out.clear();
  return each_item(gates, fault, [&](od::value gate) {
    Text& name = out.emplace_back();
    return each_field(gate, fault, [&](std::string_view key, od::value value) {
      return key != "name" || read(value, name, fault);
    });
  });
}

bool read_never(od::value policy, bool& never, Fault& fault) {
  std::string_view text;
  const bool good = read(policy, text, fault);
  never = good && text == "Never";
  return good;
}

bool read_topology_spread(od::value constraints, bool& binding, Fault& fault) {
  binding = false;
  return each_item(constraints, fault, [&](od::value constraint) {
    std::string_view when;
    const bool good = each_field(constraint, fault, [&](std::string_view key, od::value value) {
      return key != "whenUnsatisfiable" || read(value, when, fault);
    });
    binding = binding || when != "ScheduleAnyway";
    return good;
  });
}

bool read_has_items(od::value list, bool& has_items, Fault& fault) {
  has_items = false;
  return each_item(list, fault, [&](od::value) { return has_items = true; });
}

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool read_node_affinity(od::value affinity, std::vector<NodeSelectorTerm>& terms, Fault& fault) {
  terms.clear();
  return each_field(affinity, fault, [&](std::string_view when, od::value required) {
    if (when != kRequired) return true;
    return each_field(required, fault, [&](std::string_view key, od::value value) {
      return key != "nodeSelectorTerms" || read(value, terms, fault);
    });
  });
}

bool read_pod_affinity(od::value affinity, bool& binding, Fault& fault) {
  binding = false;
  return each_field(affinity, fault, [&](std::string_view when, od::value terms) {
    return when != kRequired || read_has_items(terms, binding, fault);
  });
}

bool read_affinity(od::value affinity, PodSpecParts& parts, Fault& fault) {
  PodShape::Fields& shape = parts.shape;
  shape.required_node_affinity.clear();
  shape.has_affinity = !is_null(affinity);
  shape.has_node_affinity = false;
  bool to_pods = false, from_pods = false;
  const bool good = each_field(affinity, fault, [&](std::string_view kind, od::value value) {
    if (kind == "podAffinity") return read_pod_affinity(value, to_pods, fault);
    if (kind == "podAntiAffinity") return read_pod_affinity(value, from_pods, fault);
    if (kind != "nodeAffinity") return true;
    shape.has_node_affinity = !is_null(value);
    return read_node_affinity(value, shape.required_node_affinity, fault);
  });
  parts.pod_affinity = to_pods || from_pods;
  return good;
}

bool read_phase(od::value value, PodPhase& out, Fault& fault) {
  std::string_view phase;
  if (!read(value, phase, fault)) return false;
  out = phase_of(phase);
  return true;
}

bool read_ready(od::value conditions, ReadyCondition& ready, Fault& fault) {
  ready = {};
  return each_item(conditions, fault, [&](od::value condition) {
    std::string_view type, status;
    std::optional<Time> changed;
    const bool good = each_field(condition, fault, [&](std::string_view key, od::value value) {
      if (key == "type") return read(value, type, fault);
      if (key == "status") return read(value, status, fault);
      return key != "lastTransitionTime" || read(value, changed, fault);
    });
    if (type == "Ready") ready = {.is_true = status == "True", .changed = changed};
    return good;
  });
}

bool read_container_state(od::value state, std::string& waiting, Fault& fault) {
  return each_field(state, fault, [&](std::string_view key, od::value value) {
    if (key != "waiting") return true;
    std::string_view reason;
    const bool good = each_field(value, fault, [&](std::string_view name, od::value text) {
      return name != "reason" || read(text, reason, fault);
    });
    note_waiting(reason, waiting);
    return good;
  });
}

bool read_container_statuses(od::value statuses, std::string& waiting, Fault& fault) {
  waiting.clear();
  return each_item(statuses, fault, [&](od::value status) {
    return each_field(status, fault, [&](std::string_view key, od::value value) {
      return key != "state" || read_container_state(value, waiting, fault);
    });
  });
}

bool read_status(od::value status, Pod& pod, PodTrouble& trouble, Fault& fault) {
  ReadyCondition ready;
  const bool good = each_field(status, fault, [&](std::string_view key, od::value value) {
    if (key == "phase") return read_phase(value, pod.phase, fault);
    if (key == "startTime") return read(value, pod.start_time, fault);
    if (key == "reason") return read(value, trouble.reason, fault);
    if (key == "podIP") return read(value, trouble.address, fault);
    if (key == "containerStatuses") return read_container_statuses(value, trouble.waiting, fault);
    if (key == "initContainerStatuses")
      return read_container_statuses(value, trouble.init_waiting, fault);
    return key != "conditions" || read_ready(value, ready, fault);
  });
  pod.has_been_ready = has_been_ready(ready, pod.start_time);
  return good;
}

}  // namespace

bool read(od::value spec, PodSpecParts& parts, Fault& fault) {
  PodRequests& requests = parts.requests;
  PodShape::Fields& shape = parts.shape;
  return each_field(spec, fault, [&](std::string_view key, od::value value) {
    switch (key.empty() ? '\0' : key.front()) {
      case 'a':
        return key != "affinity" || read_affinity(value, parts, fault);
      case 'c':
        return key != "containers" || read_containers(value, requests.containers, parts.host_ports,
                                                      parts.of_template, fault);
      case 'i':
        return key != "initContainers" ||
               read_init_containers(value, requests.init, parts.init_host_ports, parts.of_template,
                                    fault);
      case 'n':
        if (key == "nodeName") return read(value, parts.node_name, fault);
        if (key == "nodeSelector") return read(value, shape.node_selector, fault);
        return true;
      case 'o':
        return key != "overhead" || read(value, requests.overhead, fault);
      case 'p':
        if (key == "priority") return read(value, shape.priority, fault);
        return key != "priorityClassName" || read(value, parts.priority_class_name, fault);
      case 'r':
        if (key == "resources") return read_requests(value, requests.pod, parts.of_template, fault);
        if (key == "resourceClaims") return read_has_items(value, parts.resource_claims, fault);
        return key != "restartPolicy" || read_never(value, parts.never_restarts, fault);
      case 's':
        if (key == "schedulerName") return read(value, shape.scheduler_name, fault);
        if (key == "schedulingGates") return read_gates(value, shape.scheduling_gates, fault);
        return true;
      case 't':
        if (key == "tolerations") return read(value, shape.tolerations, fault);
        if (key == "terminationGracePeriodSeconds") {
          return read(value, parts.termination_grace_period_seconds, fault);
        }
        if (key == "topologySpreadConstraints")
          return read_topology_spread(value, parts.topology_spread, fault);
        return true;
      case 'v':
        return key != "volumes" ||
               read_volumes(value, parts.has_empty_dir, parts.bound_volumes, fault);
      default:
        return true;
    }
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
  PodSpecParts parts;
  PodTrouble trouble;
  bool good = each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "metadata") return read(field, pod.meta, fault);
    if (key == "spec") return read(field, parts, fault);
    if (key == "status") return read_status(field, pod, trouble, fault);
    return true;
  });
  pod.node_name = std::move(parts.node_name);
  pod.termination_grace_period_seconds = parts.termination_grace_period_seconds;
  pod.has_empty_dir = parts.has_empty_dir;
  pod.never_restarts = parts.never_restarts;
  std::move(trouble).keep_in(pod);
  if (good) pod.shape = shape_of(std::move(parts));
  return good;
}

}  // namespace berth
