// SPDX-License-Identifier: Apache-2.0
// Release: the one patch that lets an object of an admitted workload go. It holds for the version
// that was looked at: whatever touched the object since makes it a conflict.
#pragma once

#include "apis/core.h"
#include "controller/core/plan.h"
#include "controller/queue/facts.h"
#include "controller/queue/node_pin.h"

namespace berth::queue {

// Takes berth's gate from the pod, says where and with what it was admitted, and pins it to its
// node, if the admission has one for it.
Write release_pod(const berth::Pod& pod, const AdmissionFact& admission);

// Resumes the Job; its pods get what it was admitted with from its template. Kubernetes lets a
// template be changed in this way while no pod of it is left.
Write release_job(const berth::Job& job, const AdmissionFact& admission, const NodePin& pin);

}  // namespace berth::queue
