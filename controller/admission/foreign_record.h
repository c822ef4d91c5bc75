// SPDX-License-Identifier: Apache-2.0
// Admission records on an object that is only being created. They came with a copy or with a
// backup, and so did the node pin and the pool of that other object's admission. berth removes all
// of them; else the object could wait forever for a node that it can't get.
#pragma once

#include "controller/admission/pod_patch.h"
#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"

namespace berth {

// Removes record, pin and pool from the patched object and from the slice, and adds a warning.
void drop_foreign_record(PodSlice& workload, PodPatch& patch, ReviewFindings& findings);

}  // namespace berth
