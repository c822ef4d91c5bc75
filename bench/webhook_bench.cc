// SPDX-License-Identifier: Apache-2.0
// webhook_bench FOLDER: serves berth's admission reviews over TLS, as `berth webhook` does, on a
// fleet of 2,000 nodes in four pools that is held in memory instead of being watched. FOLDER has
// tls.crt and tls.key. Prints the port, then serves until it is killed; bench/run does the rest.
#include <fmt/format.h>
#include <malloc.h>

#include <fstream>
#include <iterator>
#include <string>

#include "apis/codec/decode.h"
#include "bench/fleet.h"
#include "bench/pools.h"
#include "controller/live/uv_loop.h"
#include "controller/server/http_server.h"
#include "controller/server/review_endpoint.h"
#include "controller/server/serving_certificate.h"

namespace berth {
namespace {

// As `berth webhook` has them by default.
constexpr HttpServerLimits kLimits{.connections = 528, .idle_seconds = 120, .posts = 256};

template <class T>
void put(const nlohmann::json& object, ClusterState& cluster) {
  std::string text = object.dump();
  cluster.upsert(decode_object<T>(text).value(), Time{});
}

ClusterState make_cluster() {
  Fleet fleet = make_fleet({2000, 0});
  fleet.layouts.clear();
  put_in_tiers(fleet);
  ClusterState cluster = load(fleet);
  put<GPUClusterPolicy>(make_policy(), cluster);
  for (const char* name : {"team-a", "team-b"})
    put<Namespace>({{"apiVersion", "v1"},
                    {"kind", "Namespace"},
                    {"metadata",
                     {{"name", name},
                      {"uid", name},
                      {"resourceVersion", "1"},
                      {"labels", {{"gpu.berth.dev/managed", "true"}}}}}},
                   cluster);
  return cluster;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const std::string& folder) {
  UvLoop loop;
  const ClusterState cluster = make_cluster();
  malloc_trim(0);  // as `berth webhook` does once its caches are synced
  const Settings settings;
  Metrics metrics("bench");
  ServingCertificate certificate;
  if (const Result<void> taken =
          certificate.replace(read_file(folder + "/tls.crt"), read_file(folder + "/tls.key"));
      !taken.has_value()) {
    fmt::print(stderr, "webhook_bench: {}\n", describe(taken.error()));
    return 1;
  }
  const ReviewEndpoint endpoint(
      {.cluster = cluster, .settings = settings, .metrics = metrics, .now = [&] {
         return loop.now();
       }});
  HttpServer server(loop.raw(), kLimits);
  const Result<int> port = server.listen(
      {.host = "127.0.0.1"}, [&](const HttpCall& call) { return endpoint.answer(call); },
      {.max_body_bytes = kMaxReviewBytes, .certificate = &certificate});
  if (!port.has_value()) {
    fmt::print(stderr, "webhook_bench: {}\n", describe(port.error()));
    return 1;
  }
  fmt::print("{}\n", *port);
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc == 2) return berth::run(argv[1]);
  fmt::print(stderr, "usage: webhook_bench FOLDER\n");
  return 2;
}
