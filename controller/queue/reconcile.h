// SPDX-License-Identifier: Apache-2.0
// All of the queue's reconcilers.
#pragma once

#include "controller/queue/admit/reconcile.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/starts/reconcile.h"
#include "controller/queue/status/reconcile.h"
