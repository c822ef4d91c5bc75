// SPDX-License-Identifier: Apache-2.0
// berth-truth: does the simulated API server behave as the real one? Random scripts run on both (a
// real etcd and kube-apiserver without controllers, and controller/sim/server/api_server.h), and
// their answers are compared. Then the remaining objects are read from the real one in both of its
// encodings. It prints how often each verb was tried on each kind, and every difference with the
// command that replays it. A whole run continues until each verb was tried on each kind often
// enough.
//   berth-truth [--seed N] [--scripts N] [--threads N] [--show]
// --show prints each request with both answers. The exit code is 1 if there is a difference, or if
// three whole runs' scripts have tried something too seldom, and 77 if there is no control plane.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/support/control_plane.h"
#include "tests/truth/compare.h"
#include "tests/truth/discovery.h"
#include "tests/truth/encodings.h"
#include "tests/truth/normalise.h"
#include "tests/truth/script.h"
#include "tests/truth/server_side.h"
#include "tests/truth/simulator_side.h"
#include "tests/truth/tally.h"

namespace {

using namespace berth;
using namespace berth::truth;

constexpr int kSkipped = 77;
constexpr std::uint64_t kWholeRun = 2000;  // scripts, and more until each was tried so often:
constexpr int kLeastTries = 200;           // of each verb on each kind
constexpr std::uint64_t kMostRuns = 3;     // by then each rare request has been tried
constexpr std::size_t kShownDifferences = 20;

struct Flags {
  std::uint64_t seed = 1;
  std::uint64_t scripts = kWholeRun;
  std::uint64_t threads = 32;  // a script mostly waits for the server
  bool show = false;
};

bool parse(int argc, char** argv, Flags& flags) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::uint64_t* number = word == "--seed"      ? &flags.seed
                            : word == "--scripts" ? &flags.scripts
                            : word == "--threads" ? &flags.threads
                                                  : nullptr;
    if (word == "--show") {
      flags.show = true;
    } else if (number != nullptr && i + 1 < argc) {
      *number = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr, "berth-truth: unknown option {}\n", word);
      return false;
    }
  }
  return true;
}

// Shared by all threads.
struct Findings {
  std::mutex mutex;
  std::uint64_t scripts = 0;  // started
  Tally tally;
  std::vector<std::string> differences;  // as printed
};

void show(const Script& script, const std::vector<Exchange>& server,
          const std::vector<Exchange>& simulator) {
  Normaliser of_server, of_simulator;
  for (std::size_t i = 0; i < server.size(); ++i) {
    const nlohmann::json here = of_server.normalise(server[i].answer);
    const nlohmann::json there = of_simulator.normalise(simulator[i].answer);
    fmt::print("{} #{} {}\n  {} {}\n", here == there ? "same     " : "DIFFERENT", i,
               script.operations[i].what, server[i].request.method, server[i].request.target);
    if (!server[i].request.body.empty()) fmt::print("  {}\n", server[i].request.body);
    fmt::print("  server:    {}\n", here.dump());
    if (here != there) fmt::print("  simulator: {}\n", there.dump());
  }
}

void try_script(std::uint64_t seed, ServerSide& server, const Flags& flags, Findings& findings) {
  const Script script = write_script(seed);
  const std::vector<Exchange> real = run(script, server);
  SimulatorSide simulator(seed);
  prepare(simulator);
  const std::vector<Exchange> simulated = run(script, simulator);
  const std::optional<Difference> difference = compare(real, simulated);

  const std::lock_guard lock(findings.mutex);
  findings.tally.add(script, real);
  if (flags.show) show(script, real, simulated);
  if (!difference.has_value()) return;
  const Operation& operation = script.operations[difference->operation];
  findings.differences.push_back(
      fmt::format("{} {}, operation {} ({}); replay: berth-truth --seed {} --scripts 1 --show\n{}",
                  to_string(operation.verb), operation.plural, difference->operation,
                  operation.what, seed, difference->where));
}

// The verbs and kinds that a whole run has tried too seldom.
std::string shortfalls(const Flags& flags, const Findings& findings) {
  return flags.scripts < kWholeRun ? "" : findings.tally.shortfalls(kLeastTries);
}

// The seed of the next script; nullopt when enough were run.
std::optional<std::uint64_t> next_seed(const Flags& flags, Findings& findings) {
  const std::lock_guard lock(findings.mutex);
  const bool enough = findings.scripts >= flags.scripts && shortfalls(flags, findings).empty();
  if (enough || findings.scripts >= kMostRuns * flags.scripts) return std::nullopt;
  return flags.seed + findings.scripts++;
}

void try_scripts(const test::Credentials& credentials, const Flags& flags, Findings& findings) {
  ServerSide server(credentials);
  while (const auto seed = next_seed(flags, findings)) {
    try {
      try_script(*seed, server, flags, findings);
    } catch (const std::exception& error) {
      const std::lock_guard lock(findings.mutex);
      findings.differences.push_back(fmt::format("script {} broke off: {}\n", *seed, error.what()));
    }
  }
}

// A cluster has one policy, and scripts run side by side: here policies may have any name.
void allow_many_policies(test::Kube& kube) {
  const test::Reply patched = kube.send("PATCH",
                                        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                        "gpuclusterpolicies.gpu.berth.dev",
                                        R"([{"op": "remove", "path":
                     "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations"}])",
                                        "application/json-patch+json");
  if (!patched.ok()) throw std::runtime_error("the CRD's rule about the policy's name stays");
  test::wait_until("policies of any name", std::chrono::seconds(30), [&kube]() -> std::string {
    const test::Reply tried =
        kube.send("POST", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies?dryRun=All",
                  R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",
            "metadata": {"name": "another"}, "spec": {}})");
    return tried.ok() ? "" : tried.body.dump();
  });
}

int run_all(const Flags& flags) {
  test::ControlPlane::Options options;
  options.controllers = false;
  options.audit = false;
  test::ControlPlane plane(options);
  test::wait_until("layouts to be served", std::chrono::seconds(30), [&plane]() -> std::string {
    plane.kube().list("miglayouts");
    return "";
  });
  allow_many_policies(plane.kube());

  ServerSide first(plane.credentials("script"));
  prepare(first);

  const auto begin = std::chrono::steady_clock::now();
  Findings findings;
  SimulatorSide simulator(0);
  findings.differences = compare_discovery(first, simulator);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < flags.threads; ++i)
    threads.emplace_back([&, credentials = plane.credentials("script")] {
      try_scripts(credentials, flags, findings);
    });
  for (std::thread& thread : threads) thread.join();
  std::ranges::copy(compare_encodings(plane.kube()), std::back_inserter(findings.differences));

  for (std::size_t i = 0; i < findings.differences.size() && i < kShownDifferences; ++i)
    fmt::print("DIFFERENCE: {}", findings.differences[i]);
  fmt::print(
      "{}{}{} scripts in {:.1f} s, {} differences; each verb was tried on each kind {} "
      "times or more\n",
      findings.tally.table(), findings.tally.codes(), findings.scripts,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
      findings.differences.size(), findings.tally.smallest());
  const std::string seldom = shortfalls(flags, findings);
  fmt::print("{}", seldom);
  return findings.differences.empty() && seldom.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  if (!parse(argc, argv, flags)) return 2;
  try {
    test::control_plane_binaries();
  } catch (const std::exception& error) {
    fmt::print(stderr, "NOT TESTED against a real API server: {}\n", error.what());
    const char* ci = std::getenv("CI");
    return ci != nullptr && std::strcmp(ci, "true") == 0 ? 1 : kSkipped;
  }
  setenv("GOGC", "400", /*replace=*/0);  // two cores are shared, memory is not
  try {
    return run_all(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "berth-truth: {}\n", error.what());
    return 1;
  }
}
