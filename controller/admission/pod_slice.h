// SPDX-License-Identifier: Apache-2.0
// PodSlice: the parts of a new pod, or of a Job's template, that admission reads. Unlike the Pod of
// apis/kinds/core.h it keeps each container as the user wrote it, and records whether a field was
// present: a patch must add missing parents. Texts are views into the document that it was read
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/codec/dom_reader.h"
#include "apis/kinds/core.h"
#include "controller/admission/host_path.h"

namespace berth {

inline constexpr std::string_view kLegacyGpu = "alpha.kubernetes.io/nvidia-gpu";
inline constexpr std::string_view kSharedMemoryVolume = "berth-shm";

// Where the pod is: the reviewed object itself, or spec.template of a Job.
enum class PodHome { kPod, kJob };

struct GpuAmount {
  std::string_view resource;  // nvidia.com/gpu*, nvidia.com/mig*, in any case, or kLegacyGpu
  std::optional<Quantity> request;
  std::optional<Quantity> limit;
  Quantity asked() const { return limit ? *limit : request.value_or(Quantity()); }
};

// An environment variable or a mount, with its index in its list.
struct NamedPlace {
  std::size_t index = 0;
  std::string_view name;
};

enum class ContainerList { kMain, kInit, kEphemeral };

struct ContainerSlice {
  ContainerList list = ContainerList::kMain;
  std::size_t index = 0;
  std::string_view name;
  std::vector<GpuAmount> gpus;
  std::string_view class_resource;  // the first deviceclass.resource.kubernetes.io/… it names
  bool has_limits = false;
  std::optional<Quantity> memory_limit;
  bool has_volume_mounts = false;
  bool mounts_shared_memory = false;  // a volume is mounted at /dev/shm
  bool has_security_context = false;
  bool privileged = false;
  bool adds_sys_admin = false;  // the server refuses this without privilege escalation
  bool says_privilege_escalation = false;
  bool says_run_as_non_root = false;
  bool runs_as_root = false;  // runAsUser: 0
  // The index of NVIDIA_VISIBLE_DEVICES in env, if its value may show a device.
  std::optional<std::size_t> visible_devices;
  std::optional<NamedPlace> mig_env;       // NVIDIA_MIG_CONFIG_DEVICES and similar variables
  std::optional<std::size_t> mps_env;      // CUDA_MPS_PIPE_DIRECTORY
  std::optional<NamedPlace> device_mount;  // below /var/run/nvidia-container-devices
  std::string_view require_cuda;           // the value of NVIDIA_REQUIRE_CUDA in env
  // The index in envFrom of a source that could set it, if env doesn't.
  std::optional<std::size_t> open_env_from;
};

struct TermSlice {
  NodeSelectorTerm term;
  bool has_expressions = false;
  // Such a term matches no node.
  bool empty() const { return term.match_expressions.empty() && term.match_fields.empty(); }
};

struct HostPath {
  std::size_t volume = 0;
  std::string_view path;
  HostReach reach = HostReach::kNothing;
};

// The fields of the object itself, Pod or Job, that decide about its queue.
struct QueuedSlice {
  bool has_labels = false;
  std::string_view queue;           // label gpu.berth.dev/queue
  std::string_view kueue_queue;     // label kueue.x-k8s.io/queue-name
  std::string_view priority_class;  // label gpu.berth.dev/priority-class
  std::string_view uid;
  std::string_view admitted;    // annotation gpu.berth.dev/admitted
  std::string_view owner_kind;  // its controller's kind, by the object's own words
  std::string_view owner_uid;
  bool of_daemon_set = false;      // the controller of DaemonSets asks for it
  bool requires_topology = false;  // annotation gpu.berth.dev/required-topology
  // Annotations, where they stand: gpu.berth.dev/pod-group-size, pod-role-size, fast-admission.
  std::optional<std::string_view> group_size, role_size, fast;

  bool has_gates = false;  // of a Pod
  bool gated = false;      // berth's gate is among them
  bool suspended = false;  // of a Job
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> active_deadline;  // in seconds
  std::string_view replacement;                 // podReplacementPolicy
};

struct PodSlice {
  PodHome home = PodHome::kPod;
  QueuedSlice queued;
  bool has_metadata = false;
  bool has_annotations = false;
  std::string_view mutations;        // annotation gpu.berth.dev/mutations
  std::string_view required_cuda;    // annotation gpu.berth.dev/required-cuda
  std::string_view required_memory;  // annotation gpu.berth.dev/required-gpu-memory
  std::string_view cdi_annotation;   // the key of the first cdi.k8s.io/…

  std::string_view node_name;
  StringMap node_selector;
  bool has_tolerations = false;
  std::vector<Toleration> tolerations;
  bool has_affinity = false;
  bool has_node_affinity = false;
  bool has_required_affinity = false;
  std::vector<TermSlice> terms;

  std::vector<ContainerSlice> containers;  // init containers too, in the order they were read
  std::vector<ContainerSlice> ephemeral;   // only a running pod gets these
  bool has_volumes = false;
  std::vector<std::string_view> volume_names;
  bool has_shared_memory_volume = false;  // kSharedMemoryVolume, in memory
  std::vector<HostPath> host_paths;       // only paths that reach something
  bool host_ipc = false;                  // /dev/shm is the host's
  bool has_claims = false;                // resourceClaims
  std::optional<std::int64_t> grace;      // terminationGracePeriodSeconds
  bool is_windows = false;

  bool has_security_context = false;
  bool says_run_as_non_root = false;
  bool says_seccomp = false;
  bool runs_as_root = false;

  std::string_view priority_class_name;
  bool has_priority = false;
  bool has_preemption_policy = false;

  // "spec.template.spec.containers[0]", the form in messages.
  std::string field(std::string_view under_spec) const;
  std::string field(const ContainerSlice& container) const;
  // "/spec/template/spec/containers/0", the form in patches.
  std::string pointer(std::string_view under_spec) const;
  std::string pointer(const ContainerSlice& container) const;
  std::string metadata_pointer() const;
};

// Reads the value of request.object (read_pod_slice.cc).
bool read_pod_slice(dom::element object, PodSlice& out, Fault& fault);
// Reads one container list and appends to `out` (read_containers.cc). It skips null items.
bool read_containers(dom::element list, ContainerList which, std::vector<ContainerSlice>& out,
                     Fault& fault);

// The most containers, init containers, volumes and tolerations a pod may have, each. A container
// with its defaults, image and mounts takes one to three kilobytes, and its status one more. etcd
// accepts 1.5 MiB for the whole pod (its --max-request-bytes).
inline constexpr std::size_t kMaxPodItems = 512;

// Whether any container names a GPU resource, even with an amount of zero.
bool names_gpu(const PodSlice& pod);

}  // namespace berth
