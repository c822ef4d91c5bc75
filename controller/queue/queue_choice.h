// SPDX-License-Identifier: Apache-2.0
// QueueChoice: which GPUQueue a workload is in. The one that its label names, if that selects its
// namespace; without a label the namespace's default. A name that no queue has stays: people are
// told of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "apis/gpu_queue.h"
#include "controller/core/view.h"

namespace berth::queue {

using NamesByQueue = std::map<std::string, std::vector<std::string>, std::less<>>;

class QueueChoice {
 public:
  void follow(const Change<Namespace>& change);
  void follow(const Change<GPUQueue>& change);

  // Empty: none. `label` is the workload's own, empty without one.
  std::string choose(std::string_view namespace_, std::string_view label) const;
  // Of several default queues the oldest, then the first by name; null without one.
  const GPUQueue* default_of(std::string_view namespace_) const;
  // False of what is not there.
  bool selects(std::string_view queue, std::string_view namespace_) const;
  // The queues that select the namespace; null of what is not there.
  const std::set<std::string, std::less<>>* selecting(std::string_view namespace_) const;
  // By queue the namespaces that it selects and would be the default of, where an older one is.
  NamesByQueue lost_defaults() const;

  const std::map<std::string, const GPUQueue*, std::less<>>& queues() const { return queues_; }

 private:
  struct Home {
    const Namespace* namespace_ = nullptr;
    std::set<std::string, std::less<>> selected_by;
    const GPUQueue* default_queue = nullptr;
  };
  void judge(Home& home, const GPUQueue& queue);
  void choose_default(Home& home) const;

  std::map<std::string, const GPUQueue*, std::less<>> queues_;
  std::map<std::string, Home, std::less<>> homes_;
};

}  // namespace berth::queue
