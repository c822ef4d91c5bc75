// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/pod_shape.h"

#include <unordered_set>

namespace berth {

struct PodShape::Rep {
  std::uint32_t references;
  std::size_t hash;
  Fields fields;
};

namespace {

const PodShape::Fields kDefaults;

class Hasher {
 public:
  void add(std::size_t value) { hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15U + (hash_ >> 29); }
  // Equal Texts have the same address.
  void add(const Text& text) { add(std::hash<const void*>()(text.view().data())); }
  void add(const std::vector<SelectorRequirement>& requirements) {
    add(requirements.size());
    for (const SelectorRequirement& requirement : requirements) {
      add(requirement.key);
      add(static_cast<std::size_t>(requirement.op));
      for (const Text& value : requirement.values) add(value);
    }
  }
  std::size_t hash() const { return hash_; }

 private:
  std::size_t hash_ = 0;
};

std::size_t hash_of(const PodShape::Fields& fields) {
  Hasher hasher;
  for (const auto& [resource, count] : fields.requests) {
    hasher.add(resource);
    hasher.add(static_cast<std::size_t>(count.rounded_up()));
  }
  for (const auto& [key, value] : fields.node_selector) {
    hasher.add(key);
    hasher.add(value);
  }
  for (const Toleration& toleration : fields.tolerations)
    for (const Text* text :
         {&toleration.key, &toleration.op, &toleration.value, &toleration.effect})
      hasher.add(*text);
  for (const NodeSelectorTerm& term : fields.required_node_affinity) {
    hasher.add(term.match_expressions);
    hasher.add(term.match_fields);
  }
  for (const Text& gate : fields.scheduling_gates) hasher.add(gate);
  hasher.add(fields.scheduler_name);
  hasher.add(static_cast<std::size_t>(fields.priority));
  hasher.add(fields.unmodelled);
  return hasher.hash();
}

}  // namespace

struct ShapePool {
  using Rep = PodShape::Rep;
  // The shape to find, with its hash.
  struct Wanted {
    const PodShape::Fields& fields;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Rep* rep) const { return rep->hash; }
    std::size_t operator()(const Wanted& wanted) const { return wanted.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Rep* a, const Rep* b) const { return a == b; }
    bool operator()(const Wanted& wanted, const Rep* rep) const {
      return wanted.hash == rep->hash && wanted.fields == rep->fields;
    }
    bool operator()(const Rep* rep, const Wanted& wanted) const { return (*this)(wanted, rep); }
  };
  std::unordered_set<Rep*, Hash, Equal> shapes;

  // Never destroyed, because static objects that hold shapes may live longer.
  static ShapePool& instance() {
    static auto* pool = new ShapePool;
    return *pool;
  }
};

PodShape::Rep* PodShape::acquire(Fields fields) {
  if (fields == kDefaults) return nullptr;
  ShapePool& pool = ShapePool::instance();
  const std::size_t hash = hash_of(fields);
  if (const auto known = pool.shapes.find(ShapePool::Wanted{fields, hash});
      known != pool.shapes.end()) {
    ++(*known)->references;
    return *known;
  }
  return *pool.shapes.insert(new Rep{1, hash, std::move(fields)}).first;
}

const PodShape::Fields& PodShape::operator*() const {
  return rep_ == nullptr ? kDefaults : rep_->fields;
}

void PodShape::retain() const {
  if (rep_ != nullptr) ++rep_->references;
}

void PodShape::release() {
  if (rep_ == nullptr || --rep_->references > 0) return;
  ShapePool::instance().shapes.erase(rep_);
  delete rep_;
}

std::size_t PodShape::pool_size() { return ShapePool::instance().shapes.size(); }

}  // namespace berth
