// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kube.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <strings.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/certs.h"

namespace berth::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

struct Type {
  const char* resource;
  const char* api;  // "/api/v1" or "/apis/GROUP/VERSION"
  const char* kind;
  bool namespaced;
};

constexpr Type kTypes[] = {
    {"nodes", "/api/v1", "Node", false},
    {"namespaces", "/api/v1", "Namespace", false},
    {"pods", "/api/v1", "Pod", true},
    {"resourcequotas", "/api/v1", "ResourceQuota", true},
    {"configmaps", "/api/v1", "ConfigMap", true},
    {"secrets", "/api/v1", "Secret", true},
    {"serviceaccounts", "/api/v1", "ServiceAccount", true},
    {"services", "/api/v1", "Service", true},
    {"events", "/api/v1", "Event", true},
    {"deployments", "/apis/apps/v1", "Deployment", true},
    {"replicasets", "/apis/apps/v1", "ReplicaSet", true},
    {"daemonsets", "/apis/apps/v1", "DaemonSet", true},
    {"validatingadmissionpolicies", "/apis/admissionregistration.k8s.io/v1",
     "ValidatingAdmissionPolicy", false},
    {"statefulsets", "/apis/apps/v1", "StatefulSet", true},
    {"jobs", "/apis/batch/v1", "Job", true},
    {"poddisruptionbudgets", "/apis/policy/v1", "PodDisruptionBudget", true},
    {"leases", "/apis/coordination.k8s.io/v1", "Lease", true},
    {"priorityclasses", "/apis/scheduling.k8s.io/v1", "PriorityClass", false},
    {"clusterroles", "/apis/rbac.authorization.k8s.io/v1", "ClusterRole", false},
    {"clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1", "ClusterRoleBinding", false},
    {"roles", "/apis/rbac.authorization.k8s.io/v1", "Role", true},
    {"rolebindings", "/apis/rbac.authorization.k8s.io/v1", "RoleBinding", true},
    {"customresourcedefinitions", "/apis/apiextensions.k8s.io/v1", "CustomResourceDefinition",
     false},
    {"miglayouts", "/apis/gpu.berth.dev/v1alpha1", "MIGLayout", false},
    {"gpuclusterpolicies", "/apis/gpu.berth.dev/v1alpha1", "GPUClusterPolicy", false},
    {"gpuqueues", "/apis/gpu.berth.dev/v1alpha1", "GPUQueue", false},
    {"clusterpolicies", "/apis/nvidia.com/v1", "ClusterPolicy", false},
    {"tfjobs", "/apis/kubeflow.org/v1", "TFJob", true},  // of a CRD that a test installs
};

const Type& type_of(const std::string& resource_or_kind) {
  for (const Type& type : kTypes)
    if (resource_or_kind == type.resource || resource_or_kind == type.kind) return type;
  throw std::runtime_error(fmt::format(
      "tests/support/kube.cc does not know \"{}\": add it to kTypes", resource_or_kind));
}

const char* content_type_of(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

std::size_t append(char* data, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

std::size_t keep_warnings(char* data, std::size_t size, std::size_t count, void* to) {
  const std::string_view line(data, size * count);
  constexpr std::string_view kName = "warning: ";
  if (line.size() > kName.size() && strncasecmp(data, kName.data(), kName.size()) == 0)
    static_cast<std::vector<std::string>*>(to)->emplace_back(
        line.substr(kName.size(), line.find_last_not_of("\r\n") + 1 - kName.size()));
  return size * count;
}

struct WatchState {
  std::string pending;
  const std::function<bool(const std::string&, Object)>* on_event;
};

std::size_t on_watch_bytes(char* data, std::size_t size, std::size_t count, void* to) {
  WatchState& state = *static_cast<WatchState*>(to);
  state.pending.append(data, size * count);
  std::size_t end;
  while ((end = state.pending.find('\n')) != std::string::npos) {
    json event = json::parse(state.pending.begin(), state.pending.begin() + static_cast<long>(end),
                             nullptr, false);
    state.pending.erase(0, end + 1);
    if (event.is_discarded() || !event.contains("type")) continue;
    const std::string type = event["type"];
    if (!(*state.on_event)(type, Object(std::move(event["object"]))))
      return 0;  // ends the transfer
  }
  return size * count;
}

std::string read_file(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> split_documents(const std::string& yaml) {
  std::vector<std::string> out(1);
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("---", 0) == 0)
      out.emplace_back();
    else
      out.back() += line + "\n";
  }
  return out;
}

std::string merge_body(const char* field, const std::string& key, const std::string& value) {
  json body;
  body["metadata"][field][key] = value.empty() ? json() : json(value);
  return body.dump();
}

}  // namespace

std::string collection_path(const std::string& resource, const std::string& ns) {
  const Type& type = type_of(resource);
  if (!type.namespaced || ns.empty()) return fmt::format("{}/{}", type.api, type.resource);
  return fmt::format("{}/namespaces/{}/{}", type.api, ns, type.resource);
}

std::string path_of(const Ref& ref) {
  return collection_path(ref.resource, ref.ns) + "/" + ref.name;
}

struct Kube::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }

  void set_blob(CURLoption option, std::string& text) {
    if (text.empty()) return;  // plain http
    curl_blob blob{text.data(), text.size(), CURL_BLOB_COPY};
    curl_easy_setopt(curl, option, &blob);
  }

  void prepare(Credentials& credentials, const std::string& user_agent, const std::string& url) {
    curl_easy_reset(curl);  // keeps the connection
    set_blob(CURLOPT_CAINFO_BLOB, credentials.authority_pem);
    set_blob(CURLOPT_SSLCERT_BLOB, credentials.certificate_pem);
    set_blob(CURLOPT_SSLKEY_BLOB, credentials.key_pem);
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, user_agent.c_str());
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY,
                     "");  // ignore the environment: the plane is on loopback
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
  }
};

Kube::Kube(Credentials credentials, std::string user_agent)
    : credentials_(std::move(credentials)),
      user_agent_(std::move(user_agent)),
      handle_(std::make_unique<Handle>()) {}
Kube::~Kube() = default;
Kube::Kube(Kube&&) noexcept = default;

Reply Kube::send(const std::string& method, const std::string& path, const std::string& body,
                 const std::string& content_type, const std::string& accept) {
  handle_->prepare(credentials_, user_agent_, credentials_.server + path);
  CURL* curl = handle_->curl;
  std::string received;
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 30000L);
  std::vector<std::string> warnings;
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, keep_warnings);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &warnings);
  curl_slist* headers = curl_slist_append(nullptr, ("Content-Type: " + content_type).c_str());
  if (!accept.empty()) headers = curl_slist_append(headers, ("Accept: " + accept).c_str());
  if (!credentials_.token.empty())
    headers = curl_slist_append(headers, ("Authorization: Bearer " + credentials_.token).c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (!body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) return {0, Object(), curl_easy_strerror(code), {}};
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  json parsed = json::parse(received, nullptr, false);
  if (parsed.is_discarded()) parsed = received;  // "ok" of /readyz, protobuf
  return {static_cast<int>(status), Object(std::move(parsed)), "", std::move(warnings)};
}

Object Kube::expect_ok(Reply reply, const std::string& method, const std::string& path) {
  if (reply.ok()) return reply.body;
  const std::string why = reply.status == 0 ? reply.error : reply.body.text("/message");
  throw KubeError(reply.status, fmt::format("{} {}: {} {}", method, path, reply.status, why));
}

Object Kube::get(const Ref& ref) {
  return expect_ok(send("GET", path_of(ref)), "GET", path_of(ref));
}

std::optional<Object> Kube::find(const Ref& ref) {
  Reply reply = send("GET", path_of(ref));
  if (reply.status == 404) return std::nullopt;
  return expect_ok(std::move(reply), "GET", path_of(ref));
}

std::vector<Object> Kube::list(const std::string& resource, const std::string& ns,
                               const std::string& query) {
  const std::string path = collection_path(resource, ns) + (query.empty() ? "" : "?" + query);
  Reply reply = send("GET", path);
  // "storage is (re)initializing" after a new CRD. client-go retries too.
  for (int again = 0; reply.status == 429 && again < 50; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    reply = send("GET", path);
  }
  return expect_ok(std::move(reply), "GET", path).items();
}

Object Kube::create(const std::string& resource, const std::string& ns,
                    const std::string& json_text) {
  const std::string path = collection_path(resource, ns);
  return expect_ok(send("POST", path, json_text), "POST", path);
}

Object Kube::patch(const Ref& ref, PatchType type, const std::string& body,
                   const std::string& subresource) {
  std::string path = path_of(ref) + (subresource.empty() ? "" : "/" + subresource);
  if (type == PatchType::kApply) path += "?fieldManager=berth-test&force=true";
  return expect_ok(send("PATCH", path, body, content_type_of(type)), "PATCH", path);
}

void Kube::remove(const Ref& ref, const std::string& options_json) {
  // Confirms the deletion as a user does, where the chart's policies require it.
  if (ref.resource == "gpuclusterpolicies" || ref.resource == "gpuqueues")
    send("PATCH", path_of(ref),
         merge_body("annotations", "gpu.berth.dev/confirm-deletion", ref.name),
         "application/merge-patch+json");
  Reply reply = send("DELETE", path_of(ref), options_json);
  if (reply.status != 404) expect_ok(std::move(reply), "DELETE", path_of(ref));
}

Reply Kube::evict(const std::string& ns, const std::string& pod) {
  json body = {{"apiVersion", "policy/v1"},
               {"kind", "Eviction"},
               {"metadata", {{"name", pod}, {"namespace", ns}}}};
  return send("POST", path_of({"pods", pod, ns}) + "/eviction", body.dump());
}

void Kube::set_label(const Ref& ref, const std::string& key, const std::string& value) {
  patch(ref, PatchType::kMerge, merge_body("labels", key, value));
}

void Kube::set_annotation(const Ref& ref, const std::string& key, const std::string& value) {
  patch(ref, PatchType::kMerge, merge_body("annotations", key, value));
}

void Kube::cordon(const std::string& node, bool unschedulable) {
  json body;
  body["spec"]["unschedulable"] = unschedulable ? json(true) : json();
  patch({"nodes", node}, PatchType::kMerge, body.dump());
}

std::vector<Object> Kube::apply(const std::string& yaml, const std::string& manager) {
  std::vector<Object> out;
  for (const std::string& document : split_documents(yaml)) {
    const YAML::Node parsed = YAML::Load(document);
    if (!parsed.IsMap()) continue;  // comments only
    const YAML::Node metadata = parsed["metadata"];
    const Type& type = type_of(parsed["kind"].as<std::string>());
    const std::string ns =
        metadata["namespace"] ? metadata["namespace"].as<std::string>() : "default";
    const Ref ref{type.resource, metadata["name"].as<std::string>(), type.namespaced ? ns : ""};
    const std::string path = fmt::format("{}?fieldManager={}&force=true", path_of(ref), manager);
    out.push_back(expect_ok(send("PATCH", path, document, content_type_of(PatchType::kApply)),
                            "apply", path));
  }
  return out;
}

std::vector<Object> Kube::apply_file(const std::string& file) { return apply(read_file(file)); }

void Kube::apply_folder(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) apply_file(file);
}

int Kube::watch(const std::string& path_and_query,
                const std::function<bool(const std::string&, Object)>& on_event,
                milliseconds idle) {
  handle_->prepare(credentials_, user_agent_, credentials_.server + path_and_query);
  CURL* curl = handle_->curl;
  WatchState state{{}, &on_event};
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_watch_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &state);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                   static_cast<long>(std::max<long long>(1, idle.count() / 1000)));
  curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

void wait_until(const std::string& what, milliseconds limit,
                const std::function<std::string()>& missing) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience * limit;
  for (;;) {
    std::string why;
    try {
      why = missing();
    } catch (const KubeError& error) {
      why = error.what();
    }
    if (why.empty()) return;
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error(
          fmt::format("waited {} ms for {}: {}", kPatience * limit.count(), what, why));
    std::this_thread::sleep_for(milliseconds(100));
  }
}

std::string kubeconfig_text(const Credentials& credentials) {
  const std::string user =
      credentials.token.empty()
          ? fmt::format("client-certificate-data: {}, client-key-data: {}",
                        base64(credentials.certificate_pem), base64(credentials.key_pem))
          : "token: " + credentials.token;
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: plane\n"
      "clusters:\n- name: plane\n  cluster: {{server: \"{}\", certificate-authority-data: {}}}\n"
      "users:\n- name: user\n  user: {{{}}}\n"
      "contexts:\n- name: plane\n  context: {{cluster: plane, user: user}}\n",
      credentials.server, base64(credentials.authority_pem), user);
}

}  // namespace berth::test
