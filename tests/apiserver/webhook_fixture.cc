// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/webhook_fixture.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "apis/base/base64.h"
#include "tests/support/certs.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

constexpr char kMutating[] = "mutatingwebhookconfigurations";
constexpr char kValidating[] = "validatingwebhookconfigurations";

std::string configuration_path(const std::string& resource) {
  return "/apis/admissionregistration.k8s.io/v1/" + resource + "/berth-webhook";
}

}  // namespace

void WebhookTest::SetUp() {
  ChartTest::SetUp();
  if (IsSkipped() || HasFailure()) return;
  kube().apply(
      "{apiVersion: v1, kind: Namespace,"
      " metadata: {name: gpu-team, labels: {gpu.berth.dev/managed: 'true'}}}");
  invariants_.pool_labels = {"gpu.berth.dev/pool"};
  cluster().add_gpu_nodes(1, {});
  const Said installed = install({"webhook.enabled=true"});
  ASSERT_EQ(installed.code, 0) << installed.text;
  port_ = free_loopback_port();
  kube().patch({"services", "berth-webhook", "berth-system"}, PatchType::kMerge,
               R"({"spec": {"type": "ExternalName", "externalName": "127.0.0.1",)"
               R"( "clusterIP": null, "clusterIPs": null}})");
  for (const char* resource : {kMutating, kValidating}) {
    const Reply found = kube().send("GET", configuration_path(resource));
    std::string patch;
    for (std::size_t i = 0; i < found.body.items("/webhooks").size(); ++i)
      patch += fmt::format(
          R"({}{{"op": "replace", "path": "/webhooks/{}/clientConfig/service/port", "value": {}}})",
          i == 0 ? "" : ", ", i, port_);
    const Reply patched = kube().send("PATCH", configuration_path(resource), "[" + patch + "]",
                                      "application/json-patch+json");
    ASSERT_TRUE(patched.ok()) << patched.body.dump();
  }
  wait_until("gpu-team's service account", seconds(30), []() -> std::string {
    return kube().find({"serviceaccounts", "default", "gpu-team"}) ? "" : "not yet";
  });
}

void WebhookTest::TearDown() {
  if (keeper_ && HasFailure())
    std::cerr << "the keeper said last:\n" << keeper_->log_tail(15) << "\n";
  if (webhook_ && HasFailure())
    std::cerr << "the webhook said last:\n" << webhook_->log_tail(15) << "\n";
  end_webhook();
  if (!IsSkipped()) {
    kube().send("DELETE", "/apis/apps/v1/namespaces/gpu-team/deployments");
    kube().send("DELETE", "/apis/batch/v1/namespaces/gpu-team/jobs");
    wait_until("gpu-team's pods to be gone", seconds(60), []() -> std::string {
      kube().send("DELETE", "/api/v1/namespaces/gpu-team/pods?gracePeriodSeconds=0");
      const std::size_t left = kube().list("pods", "gpu-team").size();
      return left == 0 ? "" : fmt::format("{} are left", left);
    });
    kube().remove({"gpuclusterpolicies", "cluster"});
    stop_keeper();  // it would re-create both Secrets, and the next case would mount them
    kube().send("DELETE", "/api/v1/namespaces/berth-system/secrets/berth-webhook-ca");
    kube().send("DELETE", "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls");
  }
  ChartTest::TearDown();
}

void WebhookTest::start_with_a_pool(const std::string& label) {
  kube().apply(
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
      "spec:\n  pools:\n  - name: training\n    nodeSelector: {matchLabels: {" +
      label + "}}\n    taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]\n");
  start_keeper();
  start_berth_as_account();
  wait_for("the pool's node", 30, []() -> std::string {
    return kube().get({"nodes", "n1"}).label("gpu.berth.dev/pool") == "training" ? "" : "not yet";
  });
  cluster().wait_agents_running();
  start_webhook();
  wait_answering();
}

void WebhookTest::start_keeper() {
  keepers_port_ = free_loopback_port();
  keeper_ = new_keeper("500ms", fmt::format("127.0.0.1:{}", keepers_port_));
  mount_secret();
}

int WebhookTest::keepers_readiness() {
  Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", keepers_port_)});
  return probe.send("GET", "/readyz").status;
}

std::unique_ptr<Child> WebhookTest::new_keeper(const std::string& check,
                                               const std::string& health) {
  const std::string kubeconfig =
      plane().write_kubeconfig("keeper.kubeconfig", account("berth-certificates"));
  const std::vector<std::string> argv = {berth_program(),
                                         "certificates",
                                         "--kubeconfig=" + kubeconfig,
                                         "--webhook-certificates-check=" + check,
                                         "--metrics-bind-address=0",
                                         "--health-probe-bind-address=" + health};
  return std::make_unique<Child>(argv, plane().scratch() + "/keeper.log");
}

void WebhookTest::mount_secret() {
  mounted_version_.clear();
  wait_for("the certificate's Secret", 30, [&]() -> std::string {
    follow_secret();
    return mounted_version_.empty() ? "not yet" : "";
  });
}

void WebhookTest::follow_secret() {
  const auto secret = kube().find({"secrets", "berth-webhook-tls", "berth-system"});
  if (!secret || secret->resource_version() == mounted_version_) return;
  mounted_version_ = secret->resource_version();
  mount(decode_base64(secret->text("/data/tls.crt")).value_or(""),
        decode_base64(secret->text("/data/tls.key")).value_or(""));
}

// Like the kubelet: a folder for each version, and a link that is renamed into place.
void WebhookTest::mount(const std::string& chain, const std::string& key) {
  namespace fs = std::filesystem;
  fs::create_directories(folder());
  const std::string version = fmt::format("..{}", ++mounts_);
  fs::create_directory(folder() + "/" + version);
  std::ofstream(folder() + "/" + version + "/tls.crt") << chain;
  std::ofstream(folder() + "/" + version + "/tls.key") << key;
  fs::remove(folder() + "/..data_tmp");
  fs::create_directory_symlink(version, folder() + "/..data_tmp");
  fs::rename(folder() + "/..data_tmp", folder() + "/..data");
  for (const char* file : {"tls.crt", "tls.key"})
    if (!fs::is_symlink(folder() + "/" + file))
      fs::create_symlink(std::string("..data/") + file, folder() + "/" + file);
}

void WebhookTest::start_webhook(const std::vector<std::string>& flags) {
  end_webhook();
  metrics_port_ = free_loopback_port();
  const std::string kubeconfig =
      plane().write_kubeconfig("webhook.kubeconfig", account("berth-webhook"));
  std::vector<std::string> argv = {
      berth_program(),
      "webhook",
      "--kubeconfig=" + kubeconfig,
      fmt::format("--webhook-bind-address=127.0.0.1:{}", port_),
      "--cert-dir=" + folder(),
      "--cert-poll=20ms",
      "--shutdown-delay=5s",
      fmt::format("--metrics-bind-address=127.0.0.1:{}", metrics_port_),
      "--health-probe-bind-address=0"};
  for (const std::string& flag : chart_flags("berth-webhook", "--node-")) argv.push_back(flag);
  argv.insert(argv.end(), flags.begin(), flags.end());
  webhook_ = std::make_unique<Child>(argv, plane().scratch() + "/webhook.log");
}

std::string WebhookTest::scrape_webhook() {
  Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", metrics_port_)});
  return probe.send("GET", "/metrics").body.text("");
}

void WebhookTest::end_webhook() {
  if (webhook_) webhook_->kill_now();  // after SIGTERM it would take its time
  webhook_.reset();
}

void WebhookTest::wait_answering() {
  wait_for("the webhook to answer", 40, [&]() -> std::string {
    const Reply reply =
        create_pod("gpu-team", pod("probe", R"("limits": {"nvidia.com/gpu": "1"})"), true);
    if (reply.ok() || reply.status == 403) return "";
    follow_secret();
    return reply.body.text("/message");
  });
}

std::vector<std::string> WebhookTest::bundles() {
  std::vector<std::string> all;
  for (const char* resource : {kMutating, kValidating})
    for (const Object& one :
         kube().send("GET", configuration_path(resource)).body.items("/webhooks"))
      all.push_back(decode_base64(one.text("/clientConfig/caBundle")).value_or(""));
  return all;
}

void WebhookTest::set_bundles(const std::string& pem) {
  for (const char* resource : {kMutating, kValidating}) {
    const Reply found = kube().send("GET", configuration_path(resource));
    std::string patch;
    for (std::size_t i = 0; i < found.body.items("/webhooks").size(); ++i)
      patch += fmt::format(
          R"({}{{"op": "add", "path": "/webhooks/{}/clientConfig/caBundle", "value": "{}"}})",
          i == 0 ? "" : ", ", i, base64(pem));
    const Reply patched = kube().send("PATCH", configuration_path(resource), "[" + patch + "]",
                                      "application/json-patch+json");
    EXPECT_TRUE(patched.ok()) << patched.body.dump();
  }
}

std::string WebhookTest::pod(const std::string& name, const std::string& resources,
                             const std::string& more_spec) {
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}"}}, "spec": {{)"
      R"("schedulerName": "nobody", "automountServiceAccountToken": false, {} "containers": [{{"name": "main", "image": "x",)"
      R"( "resources": {{{}}}}}]}}}})",
      name, more_spec, resources);
}

Reply WebhookTest::create_pod(const std::string& ns, const std::string& json, bool dry_run) {
  return kube().send("POST", "/api/v1/namespaces/" + ns + "/pods" + (dry_run ? "?dryRun=All" : ""),
                     json);
}

}  // namespace berth::test
