// SPDX-License-Identifier: Apache-2.0
// mig_reconcilers: what this folder hands to a shell.
#pragma once

#include "controller/core/reconcilers.h"
#include "controller/core/settings.h"

namespace berth {

Reconcilers mig_reconcilers(const Settings& settings);

}  // namespace berth
