// SPDX-License-Identifier: Apache-2.0
// Prints an import in the form that `kubectl apply -f -` reads.
#pragma once

#include <string>
#include <vector>

#include "controller/import/import.h"

namespace berth {

// How to print the GPUClusterPolicy. As an object, the apply would change the cluster's policy if
// there is one; a comment leaves that to the user.
enum class PolicyAs { kComment, kObject };

// One document per object, with a comment that names its sources. Empty: there is no object.
std::string print_manifests(const Imported& imported, PolicyAs policy);
// The same objects as a List in JSON, without a policy that would be a comment.
std::string print_list(const Imported& imported, PolicyAs policy);

// The report for the user, one finding per line.
std::vector<std::string> print_report(const Imported& imported);

}  // namespace berth
