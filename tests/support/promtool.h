// SPDX-License-Identifier: Apache-2.0
// Promtool: Prometheus' own word on what /metrics says. The program is on PATH or in $PROMTOOL;
// scripts/install-packages brings it.
#pragma once

#include <optional>
#include <string>

namespace berth::test {

// Whether there is one. On a CI machine (CI=true) there has to be: then this is always true.
bool has_promtool();
// What `promtool check metrics` has to say of the text; empty if it finds nothing.
std::string lint_metrics(const std::string& text);

}  // namespace berth::test
