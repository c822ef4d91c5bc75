// SPDX-License-Identifier: Apache-2.0
// Records of admissions on what is only being made: they came with a copy, or with a backup, and
// with them the node and the pool of an admission that is another object's. Both go, or the object
// would wait for a node that it may never get.
#pragma once

#include "controller/admission/pod_patch.h"
#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"

namespace berth {

// Takes record, pin and pool out of the patch's object and out of the slice, and says so.
void drop_foreign_record(PodSlice& workload, PodPatch& patch, ReviewFindings& findings);

}  // namespace berth
