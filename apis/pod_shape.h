// SPDX-License-Identifier: Apache-2.0
// PodShape: all of a pod that says where it can run, interned: equal shapes are one immutable
// object in memory, and a PodShape is a pointer to it. A queue's fifty thousand pods have a few
// dozen shapes, so that a shape is also the class of pods for which every answer is the same.
//
// The pool is one per process and not thread-safe, as Text's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/gpus_in.h"
#include "apis/meta.h"
#include "apis/quantity.h"
#include "apis/selector.h"

namespace berth {

struct Toleration {
  Text key;  // empty with Exists: every key
  Text op;   // Equal | Exists
  Text value;
  Text effect;  // empty: every effect
  bool operator==(const Toleration&) const = default;
};

// One term of requiredDuringSchedulingIgnoredDuringExecution: all requirements hold.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;
  std::vector<SelectorRequirement> match_fields;  // metadata.name only
  bool operator==(const NodeSelectorTerm&) const = default;
};

// What the scheduler heeds and berth does not model: a node that does by all else may not do.
struct Unmodelled {
  enum : std::uint8_t {
    kPodAffinity = 1 << 0,     // required pod affinity or anti-affinity
    kTopologySpread = 1 << 1,  // a constraint that is not ScheduleAnyway
    kHostPorts = 1 << 2,       // of a container
    kVolumes = 1 << 3,         // of a kind that is bound to zones or counted per node
    kResourceClaims = 1 << 4,  // DRA: may hold a GPU without naming an extended resource
    kOtherScheduler = 1 << 5,  // than default-scheduler
  };
};

class PodShape {
 public:
  struct Fields {
    // The scheduler's effective request: max(sum of containers, each init container plus the
    // sidecars before it) plus overhead.
    ResourceList requests;
    StringMap node_selector;
    std::vector<Toleration> tolerations;
    std::vector<NodeSelectorTerm> required_node_affinity;  // any term; empty: no constraint
    std::vector<Text> scheduling_gates;  // in order: a JSON patch takes one out by its place
    Text scheduler_name;
    std::int32_t priority = 0;
    // Which parents of a node affinity stand in the spec: a JSON patch adds what is missing.
    bool has_affinity = false;
    bool has_node_affinity = false;
    std::uint8_t unmodelled = 0;  // of Unmodelled

    bool gated() const { return !scheduling_gates.empty(); }
    bool asks_for_gpus() const { return !gpus_in(requests).empty(); }
    bool claims_devices() const { return (unmodelled & Unmodelled::kResourceClaims) != 0; }
    bool operator==(const Fields&) const = default;
  };

  PodShape() = default;  // of a pod that asks for nothing
  explicit PodShape(Fields fields) : rep_(acquire(std::move(fields))) {}
  PodShape(const PodShape& other) : rep_(other.rep_) { retain(); }
  PodShape(PodShape&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  PodShape& operator=(PodShape other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~PodShape() { release(); }

  const Fields& operator*() const;
  const Fields* operator->() const { return &**this; }

  // Makes the shape another one, of these fields as they are left: pod.shape.edit()->priority = 7.
  class Edit {
   public:
    explicit Edit(PodShape& shape) : shape_(shape), fields_(*shape) {}
    Edit(const Edit&) = delete;
    Edit& operator=(const Edit&) = delete;
    ~Edit() { shape_ = PodShape(std::move(fields_)); }
    Fields* operator->() { return &fields_; }

   private:
    PodShape& shape_;
    Fields fields_;
  };
  Edit edit() { return Edit(*this); }

  friend bool operator==(const PodShape& a, const PodShape& b) { return a.rep_ == b.rep_; }
  // Tells shapes apart as long as one of them is alive.
  std::size_t hash() const { return std::hash<const void*>()(rep_); }

  static std::size_t pool_size();  // distinct shapes alive

 private:
  struct Rep;
  friend struct ShapePool;
  static Rep* acquire(Fields fields);
  void retain() const;
  void release();

  Rep* rep_ = nullptr;  // nullptr: of the fields' defaults
};

}  // namespace berth
