// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/chart_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/support/places.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

// $HELM, else the output of tests/chart/build-helm; empty if it fails.
std::string helm_program() {
  const std::string command = source_dir() + "/tests/chart/build-helm";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string out;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  if (pclose(pipe) != 0) return "";
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

}  // namespace

void ChartTest::SetUp() {
  RolloutTest::SetUp();
  if (IsSkipped() || HasFailure()) return;
  helm_ = helm_program();
  if (helm_.empty()) {
    if (in_ci()) FAIL() << "tests/chart/build-helm failed";
    GTEST_SKIP() << "NOT TESTED: no helm";
  }
  kube().set_label({"namespaces", "berth-system"}, "pod-security.kubernetes.io/enforce",
                   "restricted");
  for (const Object& crd : kube().list("customresourcedefinitions"))
    if (crd.text("/spec/group") == "gpu.berth.dev")
      kube().remove({"customresourcedefinitions", crd.name()});
  wait_until("berth's kinds to be gone", seconds(30), []() -> std::string {
    return kube().find({"customresourcedefinitions", "miglayouts.gpu.berth.dev"}) ? "not yet" : "";
  });
}

void ChartTest::TearDown() {
  if (IsSkipped()) return;
  stop_berth();
  if (!helm_.empty()) helm({"uninstall", "berth", "--no-hooks", "--ignore-not-found"});
  // The set-up of the next case lists layouts.
  if (!kube().find({"customresourcedefinitions", "miglayouts.gpu.berth.dev"}))
    kube().apply_folder(source_dir() + "/crds");
  RolloutTest::TearDown();
}

ChartTest::Said ChartTest::run(const std::vector<std::string>& words,
                               std::vector<std::string> environment) {
  static int calls = 0;
  const std::string program = words.at(0).substr(words.at(0).rfind('/') + 1);
  Child child(words, fmt::format("{}/{}-{}.log", plane().scratch(), program, ++calls),
              std::move(environment));
  const auto code = child.wait(seconds(300));
  return {code.value_or(-1), child.log_text()};
}

ChartTest::Said ChartTest::helm(std::vector<std::string> words) {
  const std::string home = plane().scratch() + "/helm";
  words.insert(words.begin(), helm_);
  words.insert(words.end(), {"--namespace", "berth-system"});
  return run(words, {"KUBECONFIG=" + plane().write_kubeconfig("helm"), "HELM_CACHE_HOME=" + home,
                     "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home});
}

ChartTest::Said ChartTest::release(const std::string& verb,
                                   const std::vector<std::string>& values) {
  std::vector<std::string> words = {
      verb,  "berth", source_dir() + "/helm/berth", "--wait", "--timeout",
      "90s", "--set", "webhook.enabled=false"};
  for (const std::string& value : values) words.insert(words.end(), {"--set", value});
  return helm(words);
}

Credentials ChartTest::account(const std::string& name) {
  const std::string path = path_of({"serviceaccounts", name, "berth-system"}) + "/token";
  const Reply reply =
      kube().send("POST", path,
                  R"({"apiVersion": "authentication.k8s.io/v1",)"
                  R"( "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})");
  if (!reply.ok()) throw std::runtime_error(path + ": " + reply.body.dump());
  Credentials credentials = kube().credentials();
  return {credentials.server, credentials.authority_pem, "", "", reply.body.text("/status/token")};
}

Credentials ChartTest::person(const std::string& name, const std::string& cluster_role,
                              const std::string& ns) {
  kube().apply(fmt::format(R"(
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {0}, namespace: berth-system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {1}
metadata: {{name: {0}{2}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {3}}}
subjects: [{{kind: ServiceAccount, name: {0}, namespace: berth-system}}]
)",
                           name, ns.empty() ? "ClusterRoleBinding" : "RoleBinding",
                           ns.empty() ? "" : ", namespace: " + ns, cluster_role));
  return account(name);
}

std::vector<std::string> ChartTest::chart_flags(const std::string& deployment,
                                                const std::string& prefix) {
  std::vector<std::string> flags;
  const auto found = kube().find({"deployments", deployment, "berth-system"});
  if (!found) return flags;
  for (const Object& container : found->items("/spec/template/spec/containers"))
    for (const Object& flag : container.items("/args"))
      if (flag.text("").starts_with(prefix)) flags.push_back(flag.text(""));
  return flags;
}

Berth& ChartTest::start_berth_as_account(std::vector<std::string> flags) {
  // The chart's flags, except those that the test sets itself.
  const std::vector<std::string> given = flags;
  for (const std::string& flag : chart_flags("berth", "--node-")) {
    const std::string name = flag.substr(0, flag.find('=') + 1);
    if (std::none_of(given.begin(), given.end(),
                     [&](const std::string& own) { return own.starts_with(name); }))
      flags.push_back(flag);
  }
  // All berths of the program share one file.
  std::error_code none_yet;
  const auto size = std::filesystem::file_size(plane().scratch() + "/berth.log", none_yet);
  log_begins_ = none_yet ? 0 : size;
  return start_berth_at(plane().write_kubeconfig("account.kubeconfig", account()), flags);
}

std::vector<std::string> ChartTest::refused_to_berth() {
  std::vector<std::string> refused;
  for (const AuditEvent& event : events())
    if (event.by_berth() && event.user.starts_with(kAccount) &&
        (event.code == 401 || event.code == 403))
      refused.push_back(event.describe());
  std::istringstream log(berth().process().log_text().substr(log_begins_));
  for (std::string line; std::getline(log, line);)
    if (line.find("orbidden") != std::string::npos) refused.push_back(line);
  return refused;
}

}  // namespace berth::test
