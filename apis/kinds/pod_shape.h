// SPDX-License-Identifier: Apache-2.0
// PodShape: everything in a pod that decides where it can run. Shapes are interned: equal shapes
// are one immutable object in memory, and a PodShape is a pointer to it. The fifty thousand pods of
// a queue have a few dozen shapes, and all pods of one shape get the same answers.
//
// The process has one pool, which is not thread-safe, like Text's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/gpus_in.h"
#include "apis/base/quantity.h"
#include "apis/base/selector.h"
#include "apis/kinds/meta.h"

namespace berth {

struct Toleration {
  Text key;  // empty with Exists: all keys
  Text op;   // Equal | Exists
  Text value;
  Text effect;  // empty: all effects
  bool operator==(const Toleration&) const = default;
};

// One term of requiredDuringSchedulingIgnoredDuringExecution: all its requirements must hold.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;
  std::vector<SelectorRequirement> match_fields;  // metadata.name only
  bool operator==(const NodeSelectorTerm&) const = default;
};

// Constraints that the scheduler obeys and berth does not model. A node that fits otherwise may be
// unfit because of them.
struct Unmodelled {
  enum : std::uint8_t {
    kPodAffinity = 1 << 0,     // required pod affinity or anti-affinity
    kTopologySpread = 1 << 1,  // a constraint that is not ScheduleAnyway
    kHostPorts = 1 << 2,       // of some container
    kVolumes = 1 << 3,         // of a kind that is bound to zones or limited per node
    kResourceClaims = 1 << 4,  // DRA: may hold a GPU without requesting an extended resource
    kOtherScheduler = 1 << 5,  // a scheduler other than default-scheduler
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
    // one term is enough; empty: no constraint
    std::vector<NodeSelectorTerm> required_node_affinity;
    std::vector<Text> scheduling_gates;  // in order: a JSON patch removes one by its index
    Text scheduler_name;
    std::int32_t priority = 0;
    // Which parent fields of a node affinity exist in the spec: a JSON patch must add the missing
    // ones.
    bool has_affinity = false;
    bool has_node_affinity = false;
    std::uint8_t unmodelled = 0;  // bits of Unmodelled

    bool gated() const { return !scheduling_gates.empty(); }
    bool asks_for_gpus() const { return !gpus_in(requests).empty(); }
    bool claims_devices() const { return (unmodelled & Unmodelled::kResourceClaims) != 0; }
    bool operator==(const Fields&) const = default;
  };

  PodShape() = default;  // the shape of a pod that requests nothing
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

  // Replaces the shape after the statement, with the edited fields: pod.shape.edit()->priority = 7.
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
  // Different for different shapes, as long as one of them is alive.
  std::size_t hash() const { return std::hash<const void*>()(rep_); }

  static std::size_t pool_size();  // distinct shapes alive

 private:
  struct Rep;
  friend struct ShapePool;
  static Rep* acquire(Fields fields);
  void retain() const;
  void release();

  Rep* rep_ = nullptr;  // nullptr: all fields have their defaults
};

}  // namespace berth
