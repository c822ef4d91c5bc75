// SPDX-License-Identifier: Apache-2.0
// Endpoints: answers /healthz, /readyz and /metrics. Pure functions of their arguments.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/runtime/controller.h"
#include "controller/server/http_server.h"

namespace berth {

struct EndpointSources {
  std::function<std::vector<ReadinessCheck>()> readiness;
  std::function<std::string()> metrics;
};
struct EndpointsServed {
  bool health = false;   // /healthz, /livez, /readyz and each single check, /readyz/NAME
  bool metrics = false;  // /metrics
};

HttpResponse answer(const EndpointSources& sources, EndpointsServed served, std::string_view path,
                    std::string_view query);

}  // namespace berth
