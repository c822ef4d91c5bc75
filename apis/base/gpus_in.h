// SPDX-License-Identifier: Apache-2.0
// GpusIn: the GPU resources of a list with a quantity above zero, in the list's order:
//   for (const auto& [resource, quantity] : gpus_in(node.allocatable))
// The list must outlive it. It is no std::views::filter, because clang 14 can't compile that.
#pragma once

#include "apis/base/gpu_resource.h"
#include "apis/base/quantity.h"

namespace berth {

class GpusIn {
 public:
  class Iterator {
   public:
    using Base = ResourceList::const_iterator;
    Iterator(Base at, Base end) : at_(at), end_(end) { skip(); }
    const ResourceList::value_type& operator*() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void skip() {
      while (at_ != end_ && (at_->second.is_zero() || !is_gpu_resource(at_->first.view()))) ++at_;
    }
    Base at_, end_;
  };

  explicit GpusIn(const ResourceList& list) : list_(list) {}
  Iterator begin() const { return {list_.begin(), list_.end()}; }
  Iterator end() const { return {list_.end(), list_.end()}; }
  bool empty() const { return begin() == end(); }

 private:
  const ResourceList& list_;
};

inline GpusIn gpus_in(const ResourceList& list) { return GpusIn(list); }

}  // namespace berth
