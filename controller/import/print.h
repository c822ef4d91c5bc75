// SPDX-License-Identifier: Apache-2.0
// An import as `kubectl apply -f -` takes it.
#pragma once

#include <string>
#include <vector>

#include "controller/import/import.h"

namespace berth {

// Whether the GPUClusterPolicy is an object like the others or, as one may stand already that the
// apply would change, a comment.
enum class PolicyAs { kComment, kObject };

// A document for each object, with a comment that says where it comes from. Empty: there is none.
std::string print_manifests(const Imported& imported, PolicyAs policy);
// The same as a List, in JSON; a policy that is a comment is left out.
std::string print_list(const Imported& imported, PolicyAs policy);

// What is to be known of it beside the objects, a line each.
std::vector<std::string> print_report(const Imported& imported);

}  // namespace berth
