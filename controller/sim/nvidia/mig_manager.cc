// SPDX-License-Identifier: Apache-2.0
// Outline: look() starts the process and passes it the label's values. take_step() runs
// assert_config(), pause(), wait_for_pods() and apply().
#include "controller/sim/nvidia/mig_manager.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/sim/nvidia/operands.h"

namespace berth::sim {
MigManager::MigManager(AgentWorld& world, GpuMachine& machine)
    : world_(world),
      machine_(machine),
      client_(world.simulation.server(), "nvidia-mig-manager"),
      mount_phase_(
          world.random.between(std::chrono::nanoseconds(0), world.options.config_map_delay)) {}

void MigManager::order(AgentFault fault, int times) {
  ordered_ = fault;
  times_ = times;
}

std::optional<MonotonicTime> MigManager::next_due() const {
  return run_ ? std::optional(run_->due) : std::nullopt;
}

void MigManager::look() {
  const std::string process = machine_.process(kManagerApp);
  if (process != process_) start_process(process);
  if (process_.empty()) return;
  for (; !arrived_.empty(); arrived_.pop_front()) {
    current_ = arrived_.front();
    if (!current_.empty() && !run_) signalled_ = true;
  }
  if (!run_ && signalled_) begin_run();
  while (run_ && take_step()) {
  }
}

// A run ends with its process: the state label keeps its last value.
void MigManager::start_process(const std::string& process) {
  process_.clear();
  run_.reset();
  // Without the ConfigMap, the kubelet does not start the container.
  if (process.empty() || !world_.config.exists()) return;
  process_ = process;
  mounted_at_ = world_.now();
  arrived_.clear();
  current_ = machine_.label(names::kMigConfig);
  last_read_.clear();
  went_well_ = false;
  signalled_ = !current_.empty();
}

void MigManager::begin_run() {
  signalled_ = false;
  last_read_ = current_;
  run_ = Run{.config = current_, .due = world_.now()};
}

// A value that arrived during the run counts only if it differs from the one that was read. So A,
// B, A starts no second run, and a removed label starts a run for a config without a name.
void MigManager::end_run() {
  run_.reset();
  if (current_ != last_read_) begin_run();
}

bool MigManager::take_step() {
  switch (run_->step) {
    case Step::kAssert:
      return assert_config();
    case Step::kPause:
      return pause();
    case Step::kWaitForPods:
      return wait_for_pods();
    case Step::kApply:
      return apply();
  }
  return false;
}

bool MigManager::assert_config() {
  const auto config = read_config();
  if (!config) {
    fail(!went_well_);
    return true;
  }
  if (is_applied(*config, machine_.product(), machine_.gpus)) {
    restore_labels();
    set_state("success");
    end_run();
    return true;
  }
  run_->fault = take_fault();
  run_->step = Step::kPause;
  if (run_->fault == AgentFault::kStaleSuccess) {
    set_state("success");  // the last state of the run before, late
    run_->due = world_.now() + world_.about(world_.options.apply_time);
  }
  return true;
}

bool MigManager::pause() {
  if (world_.now() < run_->due) return false;
  set_state("pending");
  pause_labels();
  run_->step = Step::kWaitForPods;
  run_->due = world_.now() + world_.options.pod_wait;
  return true;
}

bool MigManager::wait_for_pods() {
  if (run_->fault == AgentFault::kWedge || machine_.has_gpu_clients()) {
    if (world_.now() < run_->due) return false;
    end_run();  // ends silently: the state stays pending, and the labels stay paused
    return true;
  }
  const auto time = world_.about(world_.options.apply_time);
  run_->step = Step::kApply;
  run_->due = world_.now() + (run_->fault == AgentFault::kSlow ? 10 * time : time);
  return true;
}

bool MigManager::apply() {
  if (world_.now() < run_->due) return false;
  const AgentFault fault = run_->fault;
  // Each call of mig-parted reads the file again: the config may be gone by now.
  const auto config = read_config();
  if (fault == AgentFault::kFail || fault == AgentFault::kFailLabelsPaused) {
    fail(fault == AgentFault::kFail);
    return true;
  }
  if (!config || !machine_.gpu_user().empty()) {  // "In use by another client"
    fail(!went_well_);
    return true;
  }
  const std::string refused = apply_config(*config, machine_.product(), machine_.gpus);
  if (fault == AgentFault::kReboot) {
    set_state("rebooting");
    machine_.reboot();
    return false;
  }
  if (fault == AgentFault::kLie)
    for (Gpu& gpu : machine_.gpus) gpu.instances.clear();
  if (!refused.empty()) {
    fail(!went_well_);
    return true;
  }
  machine_.give_devices_back();
  went_well_ = true;
  restore_labels();
  set_state("success");
  end_run();
  return true;
}

void MigManager::fail(bool restore) {
  if (restore) restore_labels();
  set_state("failed");
  end_run();
}

std::optional<std::vector<PartedEntry>> MigManager::read_config() const {
  const PartedFile* file = world_.config.read(mounted_at_, mount_phase_, world_.now());
  if (file == nullptr || !file->error.empty()) return std::nullopt;
  const auto config = file->configs.find(run_->config);
  return config == file->configs.end() ? std::nullopt : std::optional(config->second);
}

// A run that had its reboot needs no second one: the MIG mode survives.
AgentFault MigManager::take_fault() {
  if (times_ == 0) return AgentFault::kNone;
  if (ordered_ == AgentFault::kReboot && machine_.label(names::kMigConfigState) == "rebooting")
    return AgentFault::kNone;
  if (times_ > 0) --times_;
  return ordered_;
}

void MigManager::set_state(const char* state) {
  machine_.set_label(client_, names::kMigConfigState, state);
}

void MigManager::pause_labels() { machine_.patch(client_, pause_patch(*machine_.node())); }

void MigManager::restore_labels() { machine_.patch(client_, restore_patch(*machine_.node())); }

}  // namespace berth::sim
