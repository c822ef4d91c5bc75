// SPDX-License-Identifier: Apache-2.0
// Promtool: Prometheus' own check of the text of /metrics. The program is on PATH or in $PROMTOOL;
// scripts/install-packages installs it.
#pragma once

#include <optional>
#include <string>

namespace berth::test {

// Whether promtool exists. On a CI machine (CI=true) it is required, so this is always true there.
bool has_promtool();
// The output of `promtool check metrics` for the text; empty: no finding.
std::string lint_metrics(const std::string& text);

}  // namespace berth::test
