// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/server_side.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "tests/truth/watch_events.h"

namespace berth::truth {
namespace {

constexpr char kClasses[] = "/apis/scheduling.k8s.io/v1/priorityclasses/";
constexpr std::chrono::seconds kAwareness{10};

std::string quotas_of(const std::string& namespace_) {
  return fmt::format("/api/v1/namespaces/{}/resourcequotas", namespace_);
}

std::string pod_text(const std::string& class_name) {
  nlohmann::json pod = {{"metadata", {{"name", "probe"}}},
                        {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  if (!class_name.empty()) pod["spec"]["priorityClassName"] = class_name;
  return pod.dump();
}

// The name of the object, or of the one that a Status is about.
std::string name_in(const nlohmann::json& answer) {
  const bool status = answer.value("kind", "") == "Status";
  return answer[status ? "details" : "metadata"].value("name", "");
}

}  // namespace

Answer ServerSide::answer(const Operation& operation, const Request& request) {
  if (operation.verb == Verb::kWatch) return watched(request);
  if (operation.verb == Verb::kList) catch_up(request);
  const test::Reply reply =
      kube_.send(request.method, request.target, request.body, request.content_type);
  if (reply.status == 0)
    throw std::runtime_error(fmt::format("{} {}: {}", request.method, request.target, reply.error));
  const bool writes = request.method != "GET" && reply.ok() && !operation.dry_run;
  if (writes && operation.plural == "priorityclasses") await_class(name_in(reply.body.value()));
  if (writes && operation.plural == "resourcequotas") await_quotas();
  return {reply.status, reply.body.value()};
}

// Admission reads classes from a cache of its own.
void ServerSide::await_class(const std::string& name) {
  const bool exists = kube_.send("GET", kClasses + name).ok();
  test::wait_until("the server to know of class " + name, kAwareness, [&]() -> std::string {
    const test::Reply tried =
        kube_.send("POST", "/api/v1/namespaces/default/pods?dryRun=All", pod_text(name));
    return tried.ok() == exists ? "" : tried.body.dump();
  });
}

// Quotas come from another cache, in the order of their writes: once it has the last write of our
// own quota, it has all earlier ones.
void ServerSide::await_quotas() {
  if (beacon_.empty()) {
    beacon_ = name_in(
        kube_.send("POST", "/api/v1/namespaces", R"({"metadata": {"generateName": "beacon-"}})")
            .body.value());
    kube_.send("POST", quotas_of(beacon_), R"({"metadata": {"name": "beacon"}})");
  }
  const std::string used = std::to_string(++lit_);
  kube_.send("PATCH", quotas_of(beacon_) + "/beacon/status",
             R"({"status": {"hard": {"pods": "0"}, "used": {"pods": ")" + used + R"("}}})",
             "application/merge-patch+json");
  test::wait_until("the server to know of all quotas", kAwareness, [&]() -> std::string {
    const test::Reply tried = kube_.send(
        "POST", fmt::format("/api/v1/namespaces/{}/pods?dryRun=All", beacon_), pod_text(""));
    const std::string said = tried.body.dump();
    return said.find("used: pods=" + used + ",") != std::string::npos ? "" : said;
  });
}

Answer ServerSide::watched(const Request& request) {
  nlohmann::json events = nlohmann::json::array();
  const int code = kube_.watch(
      request.target,
      [&](const std::string& type, const test::Object& object) {
        events.push_back({{"type", type}, {"object", object.value()}});
        return !ends_watch(request.target, events.back());
      },
      std::chrono::milliseconds(10000));
  if (code != 200) return {code, kube_.send(request.method, request.target).body.value()};
  return {code, std::move(events)};
}

// The server's cache, which may be behind, answers a list of any version not older than one; a
// quorum list waits for it.
void ServerSide::catch_up(const Request& request) {
  if (request.target.find("resourceVersion=") == std::string::npos) return;
  const std::string path = request.target.substr(0, request.target.find('?'));
  kube_.send("GET", path + "?labelSelector=none-has-it");
}

}  // namespace berth::truth
