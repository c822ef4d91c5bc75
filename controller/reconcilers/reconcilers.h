// SPDX-License-Identifier: Apache-2.0
// reconcilers: the whole pure core as it is handed to a shell.
#pragma once

#include "controller/core/reconcilers.h"
#include "controller/core/settings.h"

namespace berth {

Reconcilers reconcilers(const Settings& settings);

}  // namespace berth
