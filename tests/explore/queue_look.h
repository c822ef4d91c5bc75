// SPDX-License-Identifier: Apache-2.0
// QueueLook: what the queue's invariants read from objects as the API server has them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

bool is_gated(const nlohmann::json& pod);  // by berth
std::vector<std::string> others_gates(const nlohmann::json& pod);
// A pod that berth takes for lost can't leave its node, and holds nothing any more
// (dead_node_invariants.h judges that).
bool is_lost(const nlohmann::json& pod);
bool has_ended(const nlohmann::json& pod);       // or is lost
bool is_in_service(const nlohmann::json& node);  // Ready, and not cordoned
std::int64_t gpus_of(const nlohmann::json& pod_spec);
std::string owner_uid(const nlohmann::json& object);
std::int64_t asked_by_job(const nlohmann::json& job);
// Nothing: it is charged to a quota of another unit.
std::optional<std::int64_t> recorded(const queue::AdmissionFact& record);
// As the annotation has it, whoever it is for.
std::optional<queue::AdmissionFact> record_of(const nlohmann::json& object);
// Whether a queue that selects these labels selects the namespace; null: it selects none.
bool selects(const nlohmann::json& labels, const nlohmann::json& home);
std::int64_t size_of_group(const nlohmann::json& pod);
std::string group_of(const nlohmann::json& pod);  // NAMESPACE/GROUP; empty: none
// What it is admitted with, as the ledger names that: Job/NAMESPACE/NAME of a Job's pod.
std::string workload_of(const nlohmann::json& pod);
// Whether of a GPUQueue nothing changes but how much of its budget is used.
bool tells_use_alone(const sim::Change& change);

}  // namespace berth::explore
