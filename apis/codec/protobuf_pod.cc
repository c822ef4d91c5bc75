// SPDX-License-Identifier: Apache-2.0
// Reads pods from protobuf: the same fields as decode_pod.cc. This is the hot path: a cluster's
// pods change all day.
#include "apis/codec/protobuf_reader.h"
#include "apis/kinds/pod_requests.h"
#include "apis/kinds/pod_trouble.h"

namespace berth {
namespace {

struct PodField {
  enum : std::uint32_t { kMetadata = 1, kSpec = 2, kStatus = 3 };
};
struct SpecField {
  enum : std::uint32_t {
    kVolumes = 1,
    kContainers = 2,
    kRestartPolicy = 3,
    kTerminationGracePeriodSeconds = 4,
    kNodeSelector = 7,
    kNodeName = 10,
    kAffinity = 18,
    kSchedulerName = 19,
    kInitContainers = 20,
    kTolerations = 22,
    kPriority = 25,
    kOverhead = 32,
    kTopologySpreadConstraints = 33,
    kSchedulingGates = 38,
    kResourceClaims = 39,
    kResources = 40,
  };
};
struct StatusField {
  enum : std::uint32_t {
    kPhase = 1,
    kConditions = 2,
    kReason = 4,
    kPodIP = 6,
    kStartTime = 7,
    kContainerStatuses = 8,
    kInitContainerStatuses = 10,
  };
};
struct ConditionField {
  enum : std::uint32_t { kType = 1, kStatus = 2, kLastTransitionTime = 4 };
};
struct ContainerStatusField {
  enum : std::uint32_t { kState = 2 };
};
struct ContainerStateField {
  enum : std::uint32_t { kWaiting = 1 };
};
struct WaitingField {
  enum : std::uint32_t { kReason = 1 };
};
struct ContainerField {
  enum : std::uint32_t { kPorts = 6, kResources = 8, kRestartPolicy = 24 };
};
struct ContainerPortField {
  enum : std::uint32_t { kHostPort = 2 };
};
struct ResourcesField {
  enum : std::uint32_t { kRequests = 2 };
};
struct VolumeField {
  enum : std::uint32_t { kVolumeSource = 2 };
};
struct VolumeSourceField {
  enum : std::uint32_t {
    kEmptyDir = 2,
    kGcePersistentDisk = 3,
    kAwsElasticBlockStore = 4,
    kIscsi = 8,
    kPersistentVolumeClaim = 10,
    kRbd = 11,
    kCinder = 13,
    kVsphereVolume = 20,
    kAzureDisk = 22,
    kPortworxVolume = 24,
    kCsi = 28,
    kEphemeral = 29,
  };
};
struct GateField {
  enum : std::uint32_t { kName = 1 };
};
struct TopologySpreadField {
  enum : std::uint32_t { kWhenUnsatisfiable = 3 };
};
struct AffinityField {
  enum : std::uint32_t { kNodeAffinity = 1, kPodAffinity = 2, kPodAntiAffinity = 3 };
};
struct PodAffinityField {
  enum : std::uint32_t { kRequired = 1 };
};
struct NodeAffinityField {
  enum : std::uint32_t { kRequired = 1 };
};
struct NodeSelectorField {
  enum : std::uint32_t { kTerms = 1 };
};
struct TermField {
  enum : std::uint32_t { kMatchExpressions = 1, kMatchFields = 2 };
};
struct TolerationField {
  enum : std::uint32_t { kKey = 1, kOperator = 2, kValue = 3, kEffect = 4 };
};

bool read_requests(ProtobufField resources, ResourceList& out) {
  static std::vector<ResourceList::value_type> requests;
  requests.clear();
  each_field(resources.bytes(), [&](std::uint32_t number, ProtobufField field) {
    return number == ResourcesField::kRequests && append(field, requests);
  });
  out = ResourceList::take(requests);
  return true;
}

bool read_host_port(ProtobufField port, bool& has_host_ports) {
  each_field(port.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number != ContainerPortField::kHostPort) return false;
    has_host_ports = field.integer() != 0 || has_host_ports;
    return true;
  });
  return true;
}

bool read_container(ProtobufField container, InitContainer& out, bool& has_host_ports) {
  each_field(container.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == ContainerField::kResources) return read_requests(field, out.requests);
    if (number == ContainerField::kPorts) return read_host_port(field, has_host_ports);
    if (number != ContainerField::kRestartPolicy) return false;
    out.sidecar = field.bytes() == "Always";
    return true;
  });
  return true;
}

bool add_container(ProtobufField container, ResourceList& sum, bool& has_host_ports) {
  InitContainer parts;
  read_container(container, parts, has_host_ports);
  if (sum.empty())
    sum = std::move(parts.requests);
  else
    add(sum, parts.requests);
  return true;
}

bool binds_to_nodes(std::uint32_t volume_source) {
  switch (volume_source) {
    case VolumeSourceField::kGcePersistentDisk:
    case VolumeSourceField::kAwsElasticBlockStore:
    case VolumeSourceField::kIscsi:
    case VolumeSourceField::kPersistentVolumeClaim:
    case VolumeSourceField::kRbd:
    case VolumeSourceField::kCinder:
    case VolumeSourceField::kVsphereVolume:
    case VolumeSourceField::kAzureDisk:
    case VolumeSourceField::kPortworxVolume:
    case VolumeSourceField::kCsi:
    case VolumeSourceField::kEphemeral:
      return true;
    default:
      return false;
  }
}

bool read_volume(ProtobufField volume, bool& has_empty_dir, bool& bound) {
  each_field(volume.bytes(), [&](std::uint32_t number, ProtobufField source) {
    if (number != VolumeField::kVolumeSource) return false;
    each_field(source.bytes(), [&](std::uint32_t kind, ProtobufField) {
      has_empty_dir = has_empty_dir || kind == VolumeSourceField::kEmptyDir;
      bound = bound || binds_to_nodes(kind);
      return false;
    });
    return true;
  });
  return true;
}

bool read_gate(ProtobufField gate, std::vector<Text>& out) {
  if (out.size() == kMaxRepeated) throw_too_many();
  Text& name = out.emplace_back();
  each_field(gate.bytes(), [&](std::uint32_t number, ProtobufField field) {
    return number == GateField::kName && read(field, name);
  });
  return true;
}

bool read_topology_spread(ProtobufField constraint, bool& binding) {
  std::string_view when;
  each_field(constraint.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number != TopologySpreadField::kWhenUnsatisfiable) return false;
    when = field.bytes();
    return true;
  });
  binding = binding || when != "ScheduleAnyway";
  return true;
}

bool read_node_affinity(ProtobufField node_affinity, std::vector<NodeSelectorTerm>& out) {
  each_field(node_affinity.bytes(), [&](std::uint32_t when, ProtobufField required) {
    if (when != NodeAffinityField::kRequired) return false;
    each_field(required.bytes(), [&](std::uint32_t number, ProtobufField term) {
      return number == NodeSelectorField::kTerms && append(term, out);
    });
    return true;
  });
  return true;
}

bool read_pod_affinity(ProtobufField pod_affinity, bool& binding) {
  each_field(pod_affinity.bytes(), [&](std::uint32_t when, ProtobufField) {
    binding = binding || when == PodAffinityField::kRequired;
    return false;
  });
  return true;
}

bool read_affinity(ProtobufField affinity, PodSpecParts& parts) {
  parts.shape.has_affinity = true;
  each_field(affinity.bytes(), [&](std::uint32_t kind, ProtobufField field) {
    if (kind == AffinityField::kPodAffinity || kind == AffinityField::kPodAntiAffinity)
      return read_pod_affinity(field, parts.pod_affinity);
    if (kind != AffinityField::kNodeAffinity) return false;
    parts.shape.has_node_affinity = true;
    return read_node_affinity(field, parts.shape.required_node_affinity);
  });
  return true;
}

bool read_spec(ProtobufField spec, Pod& pod) {
  static std::vector<Toleration> tolerations;
  static std::vector<StringMap::value_type> node_selector;
  static std::vector<ResourceList::value_type> overhead;
  tolerations.clear(), node_selector.clear(), overhead.clear();
  PodSpecParts parts;
  PodRequests& requests = parts.requests;
  PodShape::Fields& shape = parts.shape;
  each_field(spec.bytes(), [&](std::uint32_t number, ProtobufField field) {
    switch (number) {
      case SpecField::kVolumes:
        return read_volume(field, pod.has_empty_dir, parts.bound_volumes);
      case SpecField::kContainers:
        return add_container(field, requests.containers, parts.host_ports);
      case SpecField::kInitContainers:
        if (requests.init.size() == kMaxRepeated) throw_too_many();
        return read_container(field, requests.init.emplace_back(), parts.init_host_ports);
      case SpecField::kRestartPolicy:
        pod.never_restarts = field.bytes() == "Never";
        return true;
      case SpecField::kTerminationGracePeriodSeconds:
        return read(field, pod.termination_grace_period_seconds);
      case SpecField::kNodeSelector:
        return append(field, node_selector);
      case SpecField::kNodeName:
        return read(field, pod.node_name);
      case SpecField::kAffinity:
        return read_affinity(field, parts);
      case SpecField::kSchedulerName:
        return read(field, shape.scheduler_name);
      case SpecField::kTolerations:
        return append(field, tolerations);
      case SpecField::kPriority:
        return read(field, shape.priority);
      case SpecField::kOverhead:
        return append(field, overhead);
      case SpecField::kSchedulingGates:
        return read_gate(field, shape.scheduling_gates);
      case SpecField::kResourceClaims:
        parts.resource_claims = true;
        return false;
      case SpecField::kTopologySpreadConstraints:
        return read_topology_spread(field, parts.topology_spread);
      case SpecField::kResources:
        return read_requests(field, requests.pod);
      default:
        return false;
    }
  });
  requests.overhead = ResourceList::take(overhead);
  shape.node_selector = StringMap::take(node_selector);
  shape.tolerations = take(tolerations);
  pod.shape = shape_of(std::move(parts));
  return true;
}

bool read_ready(ProtobufField condition, ReadyCondition& ready) {
  std::string_view type, status;
  std::optional<Time> changed;
  each_field(condition.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == ConditionField::kLastTransitionTime) return read(field, changed);
    if (number != ConditionField::kType && number != ConditionField::kStatus) return false;
    (number == ConditionField::kType ? type : status) = field.bytes();
    return true;
  });
  if (type == "Ready") ready = {.is_true = status == "True", .changed = changed};
  return true;
}

bool read_waiting(ProtobufField state, std::string& waiting) {
  std::string reason;
  each_field(state.bytes(), [&](std::uint32_t number, ProtobufField field) {
    return number == WaitingField::kReason && read(field, reason);
  });
  note_waiting(reason, waiting);
  return true;
}

bool read_container_status(ProtobufField status, std::string& waiting) {
  each_field(status.bytes(), [&](std::uint32_t number, ProtobufField state) {
    if (number != ContainerStatusField::kState) return false;
    each_field(state.bytes(), [&](std::uint32_t kind, ProtobufField field) {
      return kind == ContainerStateField::kWaiting && read_waiting(field, waiting);
    });
    return true;
  });
  return true;
}

bool read_status(ProtobufField status, Pod& pod, PodTrouble& trouble) {
  ReadyCondition ready;
  each_field(status.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == StatusField::kReason) return read(field, trouble.reason);
    if (number == StatusField::kPodIP) {
      trouble.address = field.bytes();
      return true;
    }
    if (number == StatusField::kContainerStatuses)
      return read_container_status(field, trouble.waiting);
    if (number == StatusField::kInitContainerStatuses)
      return read_container_status(field, trouble.init_waiting);
    if (number == StatusField::kStartTime) return read(field, pod.start_time);
    if (number == StatusField::kConditions) return read_ready(field, ready);
    if (number != StatusField::kPhase) return false;
    pod.phase = phase_of(field.bytes());
    return true;
  });
  pod.has_been_ready = has_been_ready(ready, pod.start_time);
  return true;
}

}  // namespace

bool read(ProtobufField toleration, Toleration& out) {
  each_field(toleration.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == TolerationField::kKey) return read(field, out.key);
    if (number == TolerationField::kOperator) return read(field, out.op);
    if (number == TolerationField::kValue) return read(field, out.value);
    return number == TolerationField::kEffect && read(field, out.effect);
  });
  return true;
}

bool read(ProtobufField term, NodeSelectorTerm& out) {
  each_field(term.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == TermField::kMatchExpressions) return append(field, out.match_expressions);
    return number == TermField::kMatchFields && append(field, out.match_fields);
  });
  return true;
}

void read_message(std::string_view message, Pod& pod) {
  PodTrouble trouble;
  each_field(message, [&](std::uint32_t number, ProtobufField field) {
    if (number == PodField::kMetadata) return read(field, pod.meta);
    if (number == PodField::kSpec) return read_spec(field, pod);
    return number == PodField::kStatus && read_status(field, pod, trouble);
  });
  std::move(trouble).keep_in(pod);
}

}  // namespace berth
