// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_custom.h"
#include "apis/codec/decode_frame.h"
#include "apis/kinds/layout_fields.h"

namespace berth {
namespace {

void read(const JsonCursor& item, DeviceLayout& out) {
  if (item["gpus"].present()) item["gpus"].read(out.gpus.emplace());
  item["profiles"].read(out.profiles);
}

void read(const JsonCursor& rollout, RolloutSpec& out) {
  rollout["maxUnavailable"].read(out.max_unavailable);
  read_enum(rollout["order"], out.order, {RolloutOrder::kLeastDisruption, RolloutOrder::kName});
  rollout["initialBatch"].read(out.initial_batch);
  read_enum(rollout["failurePolicy"], out.failure_policy,
            {FailurePolicy::kHalt, FailurePolicy::kRollback});
  rollout["maxFailures"].read(out.max_failures);
  rollout["progressDeadline"].read(out.progress_deadline);
  rollout["paused"].read(out.paused);
}

void read(const JsonCursor& drain, DrainSpec& out) {
  read_enum(drain["scope"], out.scope, {DrainScope::kGPUPods, DrainScope::kAllPods});
  drain["timeout"].read(out.timeout);
  read_enum(drain["onTimeout"], out.on_timeout, {OnTimeout::kAbort, OnTimeout::kForce});
  drain["gracePeriodSeconds"].read(out.grace_period_seconds);
  drain["force"].read(out.force);
  drain["deleteEmptyDirData"].read(out.delete_empty_dir_data);
  JsonCursor wait = drain["waitForCompletion"];
  if (!wait.present()) return;
  WaitForCompletion& completion = out.wait_for_completion.emplace();
  wait["podSelector"].read(completion.pod_selector);
  wait["timeout"].read(completion.timeout);
}

void read(const JsonCursor& guard, CapacityGuardSpec& out) {
  guard["minAvailable"].read(out.min_available);
  guard["protectLastProvider"].read(out.protect_last_provider);
  guard["retire"].read(out.retire);
}

void read(const JsonCursor& status, MIGLayoutStatus& out) {
  status["observedGeneration"].read(out.observed_generation);
  status["configHash"].read(out.config_hash);
  for (const JsonCursor& item : status["configs"].items()) {
    RenderedConfig& config = out.configs.emplace_back();
    item["product"].read(config.product);
    item["name"].read(config.name);
  }
  JsonCursor nodes = status["nodes"];
  nodes["selected"].read(out.nodes.selected);
  nodes["updated"].read(out.nodes.updated);
  nodes["inProgress"].read(out.nodes.in_progress);
  nodes["blocked"].read(out.nodes.blocked);
  nodes["failed"].read(out.nodes.failed);
  nodes["pending"].read(out.nodes.pending);
  status["capacity"].read(out.capacity);
  for (const JsonCursor& item : status["details"].items()) {
    NodeDetail& detail = out.details.emplace_back();
    item["node"].read(detail.node);
    item["phase"].read(detail.phase);
    item["reason"].read(detail.reason);
    item["message"].read(detail.message);
    item["since"].read(detail.since);
  }
  read_conditions(status["conditions"], out.conditions);
}

}  // namespace

void read_spec(const JsonCursor& spec, MIGLayoutSpec& out) {
  spec["nodeSelector"].read(out.node_selector);
  spec["productSelector"].read(out.product_selector);
  spec["priority"].read(out.priority);
  for (const JsonCursor& item : spec["devices"].items()) read(item, out.devices.emplace_back());
  read(spec["rollout"], out.rollout);
  read(spec["drain"], out.drain);
  read(spec["capacityGuard"], out.capacity_guard);
  read_enum(spec["deletionPolicy"], out.deletion_policy,
            {DeletionPolicy::kRetain, DeletionPolicy::kDisableMIG});
}

void read(JsonCursor object, MIGLayout& out) {
  object["metadata"].read(out.meta);
  if (!check_spec(object, layout_spec_field())) return;
  read_spec(object["spec"], out.spec);
  read(object["status"], out.status);
}

}  // namespace berth
