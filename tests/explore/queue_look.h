// SPDX-License-Identifier: Apache-2.0
// QueueLook: what the queue's invariants read from the API server's objects.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

bool is_gated(const nlohmann::json& pod);  // by berth's gate
std::vector<std::string> others_gates(const nlohmann::json& pod);
// A pod that berth takes for lost can't leave its node, and holds nothing any more
// (dead_node_invariants.h judges that).
bool is_lost(const nlohmann::json& pod);
bool has_ended(const nlohmann::json& pod);       // or is lost
bool is_in_service(const nlohmann::json& node);  // Ready, and not cordoned
std::int64_t gpus_of(const nlohmann::json& pod_spec);
std::string owner_uid(const nlohmann::json& object);
std::int64_t asked_by_job(const nlohmann::json& job);
// nullopt: it is charged to a quota of another unit.
std::optional<std::int64_t> recorded(const queue::AdmissionFact& record);
// The annotation's record, for whatever object it was made.
std::optional<queue::AdmissionFact> record_of(const nlohmann::json& object);
// Whether a queue with this selector selects the namespace; null: it selects none.
bool selects(const nlohmann::json& labels, const nlohmann::json& home);
std::int64_t size_of_group(const nlohmann::json& pod);
std::string group_of(const nlohmann::json& pod);  // NAMESPACE/GROUP; empty: none
// The admitted workload's name in the ledger; for a pod of a Job: Job/NAMESPACE/NAME.
std::string workload_of(const nlohmann::json& pod);
// Whether a change of a GPUQueue affects only the use of its budget.
bool tells_use_alone(const sim::Change& change);

}  // namespace berth::explore
