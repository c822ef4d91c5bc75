// SPDX-License-Identifier: Apache-2.0
// Release: the one patch that releases an object of an admitted workload. It carries the
// resourceVersion of the object that berth decided on, so any change since then makes it a
// conflict.
#pragma once

#include "apis/kinds/core.h"
#include "controller/core/plan.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/record/node_pin.h"

namespace berth::queue {

// Removes berth's gate from the pod, writes its admission record, and sets its pool. If the
// admission has a node for the pod, it pins the pod to this node.
Write release_pod(const berth::Pod& pod, const AdmissionFact& admission);

// Resumes the Job. Its template gives its pods the record, the pool and the pin. Kubernetes allows
// such a change of the template only while the Job has no pods.
Write release_job(const berth::Job& job, const AdmissionFact& admission, const NodePin& pin);

}  // namespace berth::queue
