// SPDX-License-Identifier: Apache-2.0
// NotCarried: which fields of each kind `berth import` reads, and why the others have nothing that
// they could become. Fields that no table knows are told of too, so that none is lost in silence.
#pragma once

#include <string_view>

#include "controller/import/report.h"

namespace berth {

// Every field of the source that is set and that no reader takes.
void tell_not_carried(const Source& source, ImportReport& report);

// Why a kind of Kueue's has no counterpart; empty: it has, or is none of Kueue's.
std::string_view why_no_counterpart(std::string_view kind);

}  // namespace berth
