// SPDX-License-Identifier: Apache-2.0
#include "controller/server/endpoints.h"

#include <algorithm>

namespace berth {
namespace {

HttpResponse text(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

// In kube-apiserver's format. A failure lists all checks; a success does so on request (?verbose).
HttpResponse ready(const std::vector<ReadinessCheck>& checks, bool verbose) {
  std::string lines;
  bool all_good = true;
  for (const ReadinessCheck& check : checks) {
    if (check.problem) all_good = false;
    lines += check.problem ? "[-]" + check.name + " failed: " + *check.problem + "\n"
                           : "[+]" + check.name + " ok\n";
  }
  if (!all_good) return text(503, lines + "readyz check failed\n");
  return text(200, verbose ? lines + "readyz check passed\n" : "ok");
}

}  // namespace

HttpResponse answer(const EndpointSources& sources, EndpointsServed served, std::string_view path,
                    std::string_view query) {
  constexpr std::string_view kReady = "/readyz";
  if (served.metrics && path == "/metrics") {
    HttpResponse response = text(200, sources.metrics());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  }
  // An answer proves that the loop runs.
  if (served.health && (path == "/healthz" || path == "/livez")) return text(200, "ok");
  if (served.health && path == kReady)
    return ready(sources.readiness(), query.starts_with("verbose"));
  if (served.health && path.starts_with(kReady) && path.size() > kReady.size() + 1 &&
      path[kReady.size()] == '/') {
    const std::string_view name = path.substr(kReady.size() + 1);
    std::vector<ReadinessCheck> checks = sources.readiness();
    std::erase_if(checks, [&](const ReadinessCheck& check) { return check.name != name; });
    if (!checks.empty()) return ready(checks, false);
  }
  return text(404, "not found\n");
}

}  // namespace berth
