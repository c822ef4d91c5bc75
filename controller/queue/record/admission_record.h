// SPDX-License-Identifier: Apache-2.0
// The annotation gpu.berth.dev/admitted: the admission record of a workload, as JSON {uid, version,
// queue, cohort, pool, pods, amounts, since, epoch, nodes, members, seats, shapes: [{seat, pods,
// asks}], maker, selectsPool}. A record is valid on the object with this uid and on objects that
// this object controls. On a copy of the object it means nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/core.h"
#include "apis/kinds/meta.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

std::string encode_admission(const AdmissionFact& admission);
// Appends the record's members, without the braces around them.
void append_admission(std::string& out, const AdmissionFact& admission);

// Returns nothing if the text is not a record. Valid amounts and pods are from 0 to
// kMostOfAnything. If a later berth wrote the record (is_newer()), it returns what this berth can
// read.
std::optional<AdmissionFact> decode_admission(std::string_view text);
std::optional<AdmissionFact> read_admission(const nlohmann::json& record);

// Returns the record of the object or of its controller; nothing if no record is valid for it.
std::optional<AdmissionFact> admission_on(const ObjectMeta& meta);
// Does the same for a pod. A user may orphan a Job's pod that is on a node, or give it another
// controller. The pod then keeps its part of the Job's record as its own: `maker` is the Job.
std::optional<AdmissionFact> admission_on(const berth::Pod& pod);

// Reads a record that is valid for another object, for example on a restored or copied Job. Returns
// what berth wrote into that object: queue, pool and nodes. Other members may be unreadable.
// Returns nothing if the text is not a record.
std::optional<AdmissionFact> read_foreign(std::string_view text);
// Returns the Job's record if the Job has one that is not valid for it.
std::optional<AdmissionFact> foreign_admission_on(const ObjectMeta& meta);

}  // namespace berth::queue
