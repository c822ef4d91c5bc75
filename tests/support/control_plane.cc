// SPDX-License-Identifier: Apache-2.0
#include "tests/support/control_plane.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/places.h"

namespace berth::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Logs writes that the invariants check with request and answer, everything else with metadata
// only. Kubelets' Leases are left out: each node writes one every few seconds.
constexpr char kAuditPolicy[] = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  namespaces: [kube-node-lease]
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/healthz*", "/openapi*", "/version*", "/api", "/api*", "/apis", "/apis*"]
- level: Metadata
  verbs: [get, list, watch]
- level: RequestResponse
  resources:
  - {group: "", resources: [nodes, nodes/status, pods, pods/status, pods/eviction, pods/binding]}
  - {group: gpu.berth.dev, resources: ["*"]}
  - {group: batch, resources: [jobs]}
  - {group: policy, resources: [poddisruptionbudgets]}
- level: RequestResponse
  resources: [{group: "", resources: [configmaps]}]
  namespaces: [berth-system, gpu-operator]
- level: Metadata
)";

constexpr char kSchedulerConfig[] = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: "{}", qps: 200, burst: 400}}
leaderElection: {{leaderElect: false}}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
)";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string make_scratch(const std::string& wanted_parent) {
  std::string parent = wanted_parent;
  for (const char* name : {"BERTH_SCRATCH", "TMPDIR"})
    if (parent.empty()) parent = environment(name);
  if (parent.empty()) parent = "/tmp";
  std::filesystem::create_directories(parent);
  std::string pattern = parent + "/berth-plane-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a folder in " + parent);
  return pattern;
}

struct Stage {
  const char* file;
  const char* requirement;  // one more requirement of its selector; see the header
};
constexpr Stage kStages[] = {
    {"node/fast/node-initialize.yaml",
     R"({key: '.metadata.annotations["test.berth.dev/not-ready"]', operator: DoesNotExist})"},
    {"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
     R"({key: '.metadata.annotations["test.berth.dev/not-ready"]', operator: DoesNotExist})"},
    {"pod/fast/pod-ready.yaml",
     R"({key: '.metadata.annotations["test.berth.dev/never-ready"]', operator: DoesNotExist})"},
    {"pod/fast/pod-complete.yaml",
     R"({key: '.metadata.annotations["test.berth.dev/finish"]', operator: In, values: ["true"]})"},
    {"pod/fast/pod-delete.yaml", R"({key: '.status.phase', operator: NotIn, values: [Running]})"},
};

// A kubelet reports that the containers have ended before it removes the pod; a Job with a pod
// failure policy waits for that.
constexpr char kTerminateStage[] = R"(apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-terminate}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: '.metadata.deletionTimestamp', operator: Exists}
    - {key: '.status.phase', operator: In, values: [Running]}
    - {key: '.metadata.annotations["test.berth.dev/linger"]', operator: DoesNotExist}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Failed
      containerStatuses:
      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
        name: {{ .name | Quote }}
        ready: false
        restartCount: 0
        state:
          terminated: {exitCode: 143, reason: Error, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}
      {{ end }}
---
)";

std::string read_file(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string control_plane_binaries() {
  const std::string given = environment("BERTH_CONTROL_PLANE");
  if (!given.empty()) return given;
  const std::string command = source_dir() + "/tests/apiserver/build-tools";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string out;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  const int status = pclose(pipe);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  if (status != 0 || out.empty())
    throw std::runtime_error(fmt::format("{} failed ({}): no control plane to test against",
                                         command, WEXITSTATUS(status)));
  return out;
}

ControlPlane::ControlPlane() : ControlPlane(Options{}) {}

ControlPlane::ControlPlane(Options options)
    : options_(std::move(options)),
      binaries_(control_plane_binaries()),
      scratch_(make_scratch(options_.scratch_parent)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  apiserver_port_ = free_loopback_port();
  etcd_port_ = free_loopback_port();
  server_ = fmt::format("https://127.0.0.1:{}", apiserver_port_);

  write("ca.crt", authority_.certificate());
  const KeyPair serving = authority_.issue_server(
      {"localhost", "127.0.0.1", "10.96.0.1", "kubernetes", "kubernetes.default.svc"});
  write("serving.crt", serving.certificate);
  write("serving.key", serving.key);
  const KeyPair accounts = make_signing_key();
  write("accounts.pub", accounts.certificate);
  write("accounts.key", accounts.key);
  write("audit-policy.yaml", kAuditPolicy);
  write_admission_configuration();

  kube_ = std::make_unique<Kube>(credentials("admin"));
  write_kubeconfig("admin");
  start_etcd();
  start_apiserver();
  if (options_.controllers) start_controllers();
  prepare_namespaces();
}

// The certificate by which the API server authenticates to webhooks.
void ControlPlane::write_admission_configuration() {
  const KeyPair shown = authority_.issue_client(kWebhookCaller, {});
  const std::string kubeconfig =
      write("webhooks.kubeconfig",
            fmt::format("apiVersion: v1\nkind: Config\nusers:\n- name: '*'\n  user: {{client-"
                        "certificate-data: {}, client-key-data: {}}}\n",
                        base64(shown.certificate), base64(shown.key)));
  std::string text =
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";
  for (const char* plugin : {"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"})
    text += fmt::format(
        "- name: {}\n  configuration: {{apiVersion: apiserver.config.k8s.io/v1, kind: "
        "WebhookAdmissionConfiguration, kubeConfigFile: {}}}\n",
        plugin, kubeconfig);
  write("admission.yaml", text);
}

ControlPlane::~ControlPlane() {
  for (std::unique_ptr<Child>* child :
       {&kwok_, &scheduler_, &controller_manager_, &apiserver_, &etcd_})
    if (*child != nullptr) (*child)->signal(SIGKILL);  // a graceful end is not needed
  if (keep_scratch_ || std::uncaught_exceptions() > 0 ||
      !environment("BERTH_KEEP_SCRATCH").empty()) {
    fmt::print(stderr, "{}\n", describe());
    return;
  }
  for (std::unique_ptr<Child>* child :
       {&kwok_, &scheduler_, &controller_manager_, &apiserver_, &etcd_})
    child->reset();
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

Credentials ControlPlane::credentials(const std::string& user,
                                      const std::vector<std::string>& groups) {
  const KeyPair pair = authority_.issue_client(user, groups);
  return {server_, authority_.certificate(), pair.certificate, pair.key};
}

std::string ControlPlane::write_kubeconfig(const std::string& user) {
  return write_kubeconfig(user + ".kubeconfig", credentials(user));
}

std::string ControlPlane::write_kubeconfig(const std::string& file,
                                           const Credentials& credentials) {
  return write(file, kubeconfig_text(credentials));
}

std::string ControlPlane::describe() const {
  return fmt::format(
      "the control plane's logs are in {} (try: KUBECONFIG={}/admin.kubeconfig {}/kubectl get "
      "nodes)",
      scratch_, scratch_, binaries_);
}

std::string ControlPlane::write(const std::string& name, const std::string& text) {
  const std::string file = scratch_ + "/" + name;
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
  return file;
}

void ControlPlane::start_etcd() {
  const std::string peer = fmt::format("http://127.0.0.1:{}", free_loopback_port());
  const std::string client = fmt::format("http://127.0.0.1:{}", etcd_port_);
  etcd_ = std::make_unique<Child>(
      std::vector<std::string>{program("etcd"), "--unsafe-no-fsync", "--log-level=warn",
                               "--data-dir=" + scratch_ + "/etcd", "--listen-client-urls=" + client,
                               "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
                               "--initial-advertise-peer-urls=" + peer,
                               "--initial-cluster=default=" + peer},
      scratch_ + "/etcd.log");
}

void ControlPlane::start_apiserver_process() {
  std::vector<std::string> argv = {
      program("kube-apiserver"),
      fmt::format("--etcd-servers=http://127.0.0.1:{}", etcd_port_),
      fmt::format("--secure-port={}", apiserver_port_),
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--tls-cert-file=" + scratch_ + "/serving.crt",
      "--tls-private-key-file=" + scratch_ + "/serving.key",
      "--client-ca-file=" + scratch_ + "/ca.crt",
      "--service-account-key-file=" + scratch_ + "/accounts.pub",
      "--service-account-signing-key-file=" + scratch_ + "/accounts.key",
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.96.0.0/24",
      "--authorization-mode=Node,RBAC",
      "--allow-privileged=true",  // as in every cluster: drivers are privileged pods
      "--endpoint-reconciler-type=none",
      "--shutdown-delay-duration=0s",
      "--profiling=false",
      "--admission-control-config-file=" + scratch_ + "/admission.yaml",
  };
  if (options_.audit) {
    argv.push_back("--audit-policy-file=" + scratch_ + "/audit-policy.yaml");
    argv.push_back("--audit-log-path=" + audit_log());
    argv.push_back(
        "--audit-log-mode=blocking-strict");     // written before the caller gets the answer
    argv.push_back("--audit-log-maxsize=4000");  // never rotated
  }
  if (!options_.controllers) argv.push_back("--disable-admission-plugins=ServiceAccount");
  if (!options_.watch_cache)
    argv.push_back("--watch-cache-sizes=nodes#0,pods#0,configmaps#0,miglayouts.gpu.berth.dev#0");
  apiserver_ = std::make_unique<Child>(argv, scratch_ + "/kube-apiserver.log");
}

void ControlPlane::start_apiserver() {
  start_apiserver_process();
  wait_ready();
}

void ControlPlane::restart_apiserver() {
  // SIGTERM first: the server then finishes and logs running requests. SIGKILL at once would leave
  // writes in etcd without an audit event. Open watches would delay the end by a minute.
  apiserver_->stop(seconds(2));
  start_apiserver();
  wait_for_our_kinds();
}

// Custom kinds are served a moment after the API server reports that it is ready.
void ControlPlane::wait_for_our_kinds() {
  for (const char* plural : {"miglayouts", "gpuclusterpolicies", "gpuqueues"})
    wait_until(fmt::format("{} to be served", plural), seconds(30), [&]() -> std::string {
      const Reply reply = kube_->send("GET", collection_path(plural, ""));
      return reply.ok() ? "" : reply.body.text("/message");
    });
}

void ControlPlane::wait_ready() {
  wait_until("the API server to be ready (" + scratch_ + "/kube-apiserver.log)", seconds(60),
             [&]() -> std::string {
               if (!apiserver_->running())
                 throw std::runtime_error("kube-apiserver ended:\n" + apiserver_->log_tail());
               if (!etcd_->running()) throw std::runtime_error("etcd ended:\n" + etcd_->log_tail());
               const Reply reply = kube_->send("GET", "/readyz");
               return reply.ok() ? ""
                                 : fmt::format("/readyz answers {} {}", reply.status, reply.error);
             });
}

void ControlPlane::start_controllers() {
  const std::string manager_config = write_kubeconfig("kube-controller-manager");
  controller_manager_ = std::make_unique<Child>(
      std::vector<std::string>{program("kube-controller-manager"), "--kubeconfig=" + manager_config,
                               "--leader-elect=false", "--secure-port=0", "--kube-api-qps=200",
                               "--kube-api-burst=400",
                               "--service-account-private-key-file=" + scratch_ + "/accounts.key",
                               "--root-ca-file=" + scratch_ + "/ca.crt", "--profiling=false"},
      scratch_ + "/kube-controller-manager.log");

  const std::string scheduler_config =
      write("scheduler.yaml", fmt::format(kSchedulerConfig, write_kubeconfig("kube-scheduler")));
  scheduler_ = std::make_unique<Child>(
      std::vector<std::string>{program("kube-scheduler"), "--config=" + scheduler_config,
                               "--secure-port=0"},
      scratch_ + "/kube-scheduler.log");

  kwok_ = std::make_unique<Child>(
      std::vector<std::string>{program("kwok"), "--kubeconfig=" + write_kubeconfig("kwok"),
                               "--manage-all-nodes=true", "--config=" + write_stages(),
                               "--node-lease-duration-seconds=40"},
      scratch_ + "/kwok.log");
}

std::string ControlPlane::write_stages() {
  // As text, not by a YAML library: kwok distinguishes 'True' from True, and yaml-cpp drops the
  // quotes.
  const std::string anchor = "    matchExpressions:\n";
  std::string out = kTerminateStage;
  for (const Stage& stage : kStages) {
    std::string text = read_file(binaries_ + "/kwok-stages/" + stage.file);
    const std::size_t at = text.find(anchor);
    if (at == std::string::npos)
      throw std::runtime_error(fmt::format("kwok's {} has no matchExpressions", stage.file));
    out +=
        text.insert(at + anchor.size(), fmt::format("    - {}\n", stage.requirement)) + "\n---\n";
  }
  return write("kwok-stages.yaml", out);
}

void ControlPlane::prepare_namespaces() {
  for (const char* name : {"gpu-operator", "berth-system", "team-a", "team-b"})
    kube_->apply(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", name));
  const std::string crds = source_dir() + "/crds";
  if (std::filesystem::exists(crds)) kube_->apply_folder(crds);
  wait_for_our_kinds();
  if (!options_.controllers) return;
  // The API server refuses pods until the controller manager has created the default account.
  for (const char* name : {"default", "gpu-operator", "berth-system", "team-a", "team-b"})
    wait_until(fmt::format("the default service account of {}", name), seconds(30), [&] {
      return kube_->find({"serviceaccounts", "default", name}) ? "" : "it is not there";
    });
}

void ControlPlane::between_lives(const std::function<void()>& change) {
  apiserver_->stop(seconds(2));
  etcd_->stop(seconds(5));
  change();
  start_etcd();
  start_apiserver();
  wait_for_our_kinds();
}

void ControlPlane::save_etcd() {
  between_lives([&] {
    std::filesystem::copy(scratch_ + "/etcd", scratch_ + "/etcd.saved",
                          std::filesystem::copy_options::recursive);
  });
}

void ControlPlane::restore_etcd() {
  between_lives([&] {
    std::filesystem::remove_all(scratch_ + "/etcd");
    std::filesystem::rename(scratch_ + "/etcd.saved", scratch_ + "/etcd");
  });
}

void ControlPlane::compact_etcd() {
  Kube etcd({fmt::format("http://127.0.0.1:{}", etcd_port_), "", "", ""});
  const Reply now = etcd.send("POST", "/v3/kv/range", R"({"key": "AA=="})");
  const std::string revision = now.body.text("/header/revision");
  const Reply done = etcd.send("POST", "/v3/kv/compaction",
                               fmt::format(R"({{"revision": "{}", "physical": true}})", revision));
  if (!done.ok()) throw std::runtime_error("etcd's compaction: " + done.body.dump());
}

}  // namespace berth::test
