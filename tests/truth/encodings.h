// SPDX-License-Identifier: Apache-2.0
// Encodings: pods and nodes mean the same to berth whether the real server sends them as JSON or as
// protobuf.
#pragma once

#include <string>
#include <vector>

#include "tests/support/kube.h"

namespace berth::truth {

// Creates a pod and a node with every field that berth reads, and reads these and the existing ones
// in both encodings: lists, watches and refusals. A line for each difference, and for each field
// that no object had. No other client may write meanwhile.
std::vector<std::string> compare_encodings(test::Kube& kube);

}  // namespace berth::truth
