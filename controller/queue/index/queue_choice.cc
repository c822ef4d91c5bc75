// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/queue_choice.h"

namespace berth::queue {
namespace {

bool older(const GPUQueue& a, const GPUQueue& b) {
  if (a.meta.creation_timestamp != b.meta.creation_timestamp)
    return a.meta.creation_timestamp < b.meta.creation_timestamp;
  return a.meta.name < b.meta.name;
}

}  // namespace

void QueueChoice::follow(const Change<Namespace>& change) {
  if (change.now == nullptr) {
    homes_.erase(change.old->meta.name);
    return;
  }
  Home& home = homes_[change.now->meta.name];
  home.namespace_ = change.now;
  if (change.old != nullptr && change.old->meta.labels == change.now->meta.labels) return;
  for (const auto& [name, queue] : queues_) judge(home, *queue);
  choose_default(home);
}

void QueueChoice::follow(const Change<GPUQueue>& change) {
  const std::string& name = change.now != nullptr ? change.now->meta.name : change.old->meta.name;
  if (change.now == nullptr)
    queues_.erase(name);
  else
    queues_[name] = change.now;
  for (auto& [of, home] : homes_) {
    if (change.now == nullptr)
      home.selected_by.erase(name);
    else
      judge(home, *change.now);
    choose_default(home);
  }
}

std::string QueueChoice::choose(std::string_view namespace_, std::string_view label) const {
  if (label.empty()) {
    const GPUQueue* queue = default_of(namespace_);
    return queue == nullptr ? "" : queue->meta.name;
  }
  return !queues_.contains(label) || selects(label, namespace_) ? std::string(label) : "";
}

const GPUQueue* QueueChoice::default_of(std::string_view namespace_) const {
  const auto home = homes_.find(namespace_);
  return home == homes_.end() ? nullptr : home->second.default_queue;
}

bool QueueChoice::selects(std::string_view queue, std::string_view namespace_) const {
  const auto home = homes_.find(namespace_);
  return home != homes_.end() && home->second.selected_by.contains(queue);
}

const std::set<std::string, std::less<>>* QueueChoice::selecting(
    std::string_view namespace_) const {
  const auto home = homes_.find(namespace_);
  return home == homes_.end() ? nullptr : &home->second.selected_by;
}

NamesByQueue QueueChoice::lost_defaults() const {
  NamesByQueue lost;
  for (const auto& [namespace_, home] : homes_)
    for (const std::string& name : home.selected_by) {
      const GPUQueue* queue = queues_.find(name)->second;
      if (queue->spec.default_queue && queue != home.default_queue)
        lost[name].push_back(namespace_);
    }
  return lost;
}

void QueueChoice::judge(Home& home, const GPUQueue& queue) {
  const auto& selector = queue.spec.namespace_selector;
  if (selector && selector->matches(home.namespace_->meta.labels))
    home.selected_by.insert(queue.meta.name);
  else
    home.selected_by.erase(queue.meta.name);
}

void QueueChoice::choose_default(Home& home) const {
  home.default_queue = nullptr;
  for (const std::string& name : home.selected_by) {
    const GPUQueue* queue = queues_.find(name)->second;
    if (queue->spec.default_queue &&
        (home.default_queue == nullptr || older(*queue, *home.default_queue)))
      home.default_queue = queue;
  }
}

}  // namespace berth::queue
