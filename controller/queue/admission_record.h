// SPDX-License-Identifier: Apache-2.0
// The annotation gpu.berth.dev/admitted: what a workload was admitted with, as JSON {uid,
// version, queue, cohort, pool, pods, amounts, since, epoch, nodes, members, seats, shapes: [{seat,
// pods, asks}], maker, selectsPool}. It counts for the object whose uid it has, and for what that
// object controls: a copy on another one says nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/meta.h"
#include "controller/queue/facts.h"

namespace berth::queue {

std::string encode_admission(const AdmissionFact& admission);
// The record's members, without the braces around them.
void append_admission(std::string& out, const AdmissionFact& admission);

// Nothing if that is no such record: amounts and pods are from 0 to kMostOfAnything. Of a record of
// a later berth (is_newer()), whatever can be read.
std::optional<AdmissionFact> decode_admission(std::string_view text);
std::optional<AdmissionFact> read_admission(const nlohmann::json& record);

// The object's own record, or that of whoever controls it; nothing without one that counts.
std::optional<AdmissionFact> admission_on(const ObjectMeta& meta);
// Likewise of a pod. A user may orphan a Job's pod that is on a node, or give it another
// controller. The pod then keeps its part of the Job's record as its own: `maker` is the Job.
std::optional<AdmissionFact> admission_on(const berth::Pod& pod);

// Of a record that is another object's, as a backup restores it and a copy has it: what berth put
// into the object by it, queue, pool and nodes, however much of the rest can be read. Nothing if
// it is no record at all.
std::optional<AdmissionFact> read_foreign(std::string_view text);
// That of the Job, if it has one that does not count.
std::optional<AdmissionFact> foreign_admission_on(const ObjectMeta& meta);

}  // namespace berth::queue
