// SPDX-License-Identifier: Apache-2.0
// Kube: a small blocking Kubernetes client for tests. It shares no code with berth's own client, so
// that a bug there can't hide itself. One Kube per thread. Everything but send() throws KubeError
// on an answer that is not 2xx, with method, path, code and the server's message.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/object.h"

namespace berth::test {

struct Credentials {
  std::string server;         // https://127.0.0.1:PORT
  std::string authority_pem;  // trusted for the server
  std::string certificate_pem;
  std::string key_pem;
  std::string token;  // a bearer token, instead of a certificate
};

// An object, by its plural ("nodes", "miglayouts", …), its name and, unless cluster-scoped, its
// namespace.
struct Ref {
  std::string resource;
  std::string name;
  std::string ns;
};
std::string path_of(const Ref& ref);
std::string collection_path(const std::string& resource, const std::string& ns);

struct Reply {
  int status = 0;  // 0: no answer (see error)
  Object body;
  std::string error;
  std::vector<std::string> warnings;  // Warning headers as sent: 299 - "…"
  bool ok() const { return status >= 200 && status < 300; }
};

class KubeError : public std::runtime_error {
 public:
  KubeError(int code, const std::string& what) : std::runtime_error(what), status(code) {}
  const int status;  // 0: no answer
};

enum class PatchType { kJson, kMerge, kStrategic, kApply };

class Kube {
 public:
  explicit Kube(Credentials credentials, std::string user_agent = "berth-test");
  ~Kube();
  Kube(Kube&&) noexcept;
  Kube& operator=(Kube&&) = delete;

  // A body that is not JSON becomes a string of its bytes.
  Reply send(const std::string& method, const std::string& path, const std::string& body = "",
             const std::string& content_type = "application/json", const std::string& accept = "");

  Object get(const Ref& ref);
  std::optional<Object> find(const Ref& ref);  // nullopt on 404
  std::vector<Object> list(const std::string& resource, const std::string& ns = "",
                           const std::string& query = "");
  Object create(const std::string& resource, const std::string& ns, const std::string& json_text);
  // `subresource`: "" or "status".
  Object patch(const Ref& ref, PatchType type, const std::string& body,
               const std::string& subresource = "");
  void remove(const Ref& ref, const std::string& options_json = "");  // a missing object is fine
  Reply evict(const std::string& ns, const std::string& pod);

  // Shorthands for frequent writes: value "" removes the key.
  void set_label(const Ref& ref, const std::string& key, const std::string& value);
  void set_annotation(const Ref& ref, const std::string& key, const std::string& value);
  void cordon(const std::string& node, bool unschedulable = true);

  // Server-side apply of one or more YAML documents, as field manager `manager`; returns the
  // server's results.
  std::vector<Object> apply(const std::string& yaml, const std::string& manager = "berth-test");
  std::vector<Object> apply_file(const std::string& file);
  void apply_folder(const std::string& folder);  // every *.yaml, in name order

  // One watch from `resource_version` on: calls on_event(type, object) until it returns false, the
  // server ends the stream, or no byte arrives for `idle`. Returns the HTTP status.
  int watch(const std::string& path_and_query,
            const std::function<bool(const std::string&, Object)>& on_event,
            std::chrono::milliseconds idle);

  const Credentials& credentials() const { return credentials_; }

 private:
  struct Handle;
  Object expect_ok(Reply reply, const std::string& method, const std::string& path);

  Credentials credentials_;
  std::string user_agent_;
  std::unique_ptr<Handle> handle_;
};

// Factor for all time limits of tests, so that a busy machine slows tests but does not fail them.
inline constexpr int kPatience = 4;

// Polls until `missing` returns "". After `limit` times kPatience it throws std::runtime_error with
// `what` and the last answer. Tests wait for facts in this way, and never sleep for a fixed time. A
// KubeError inside counts as "not yet".
void wait_until(const std::string& what, std::chrono::milliseconds limit,
                const std::function<std::string()>& missing);

// The text of a kubeconfig file for these credentials.
std::string kubeconfig_text(const Credentials& credentials);

}  // namespace berth::test
