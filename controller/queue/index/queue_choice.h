// SPDX-License-Identifier: Apache-2.0
// QueueChoice: which GPUQueue a workload is in. It is the queue that its label names, if that queue
// selects the namespace. Without a label it is the default queue of the namespace. If no queue has
// the name, the name stays, so that berth can report it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/core/view.h"

namespace berth::queue {

using NamesByQueue = std::map<std::string, std::vector<std::string>, std::less<>>;

class QueueChoice {
 public:
  void follow(const Change<Namespace>& change);
  void follow(const Change<GPUQueue>& change);

  // `label` is the workload's own; empty if it has none. Returns an empty name if the workload is
  // in no queue.
  std::string choose(std::string_view namespace_, std::string_view label) const;
  // Returns the oldest default queue, or the first by name among equally old ones; null if there is
  // none.
  const GPUQueue* default_of(std::string_view namespace_) const;
  // Returns false if the queue or namespace does not exist.
  bool selects(std::string_view queue, std::string_view namespace_) const;
  // Returns the queues that select the namespace; null if the namespace does not exist.
  const std::set<std::string, std::less<>>* selecting(std::string_view namespace_) const;
  // Returns for each queue the namespaces that it selects and in which an older default queue takes
  // precedence.
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
