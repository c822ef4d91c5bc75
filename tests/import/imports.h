// SPDX-License-Identifier: Apache-2.0
// What `berth import` reads, as tests write it.
#pragma once

#include <string>

#include "controller/import/import.h"

namespace berth::test {

// The documents of a file. A text that is no YAML fails the test.
Sources sources_of(const std::string& text, const std::string& file = "in.yaml");

Imported import_text(const std::string& text);

// What `berth validate` would find in the objects, the policy among them, a line each.
std::string faults_in(const Imported& imported);

}  // namespace berth::test
