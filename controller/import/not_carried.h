// SPDX-License-Identifier: Apache-2.0
// NotCarried: which fields of each kind `berth import` reads, and why the others have no
// counterpart. It reports unknown fields too, so that no field is dropped silently.
#pragma once

#include <string_view>

#include "controller/import/report.h"

namespace berth {

// Reports every field that the source sets and `berth import` does not read.
void tell_not_carried(const Source& source, ImportReport& report);

// Why a kind of Kueue's has no counterpart; empty: it has one, or it is not Kueue's.
std::string_view why_no_counterpart(std::string_view kind);

}  // namespace berth
