// SPDX-License-Identifier: Apache-2.0
// Input of `berth import` in tests.
#pragma once

#include <string>

#include "controller/import/import.h"

namespace berth::test {

// The documents of a file. A text that is not YAML fails the test.
Sources sources_of(const std::string& text, const std::string& file = "in.yaml");

Imported import_text(const std::string& text);

// The faults that `berth validate` finds in the objects and the policy, one per line.
std::string faults_in(const Imported& imported);

}  // namespace berth::test
