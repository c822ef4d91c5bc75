// SPDX-License-Identifier: Apache-2.0
// reconcilers: the whole pure core in the form that a shell takes.
#pragma once

#include "controller/core/reconcilers.h"
#include "controller/core/settings.h"

namespace berth {

Reconcilers reconcilers(const Settings& settings);

}  // namespace berth
