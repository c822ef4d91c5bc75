// SPDX-License-Identifier: Apache-2.0
// ApiServer: what berth and the actors may ask of a kube-apiserver, answered from a Store. A model
// of documented and tried behaviour, compared with the real one by the truth check
// (tests/truth, docs/simulation-truth.md); where they differ, this one is wrong.
//
// call() speaks HTTP for berth, so that decoding is inside the test; write() is the same thing for
// actors of the simulation, without the text. Both answer at once: how long it takes to get there
// and back is the wire's (wire.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/sim/random.h"
#include "controller/sim/store.h"
#include "controller/sim/virtual_clock.h"

namespace berth::sim {

struct ApiCall {
  std::string user;    // "berth-0", "kubelet"; stands in for authentication
  std::string method;  // GET, POST, PUT, PATCH, DELETE
  std::string target;  // path and query, escaped
  std::string content_type;
  std::string body;
};

struct ApiReply {
  int code = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // beside content-type: Retry-After, …
  bool ok() const { return code >= 200 && code < 300; }
};

enum class WriteVerb { kCreate, kUpdate, kJsonPatch, kMergePatch, kApply, kDelete, kEvict };

struct WriteRequest {
  WriteVerb verb;
  StoreKey key;               // of a create: the name may be empty, the body has it
  std::string subresource;    // "", "status"; an eviction needs none
  ObjectPtr body;             // object, patch, DeleteOptions or Eviction; null: none
  bool escaped_as_go = true;  // the body's text: see apply_json_patch()
  std::string field_manager;
  bool force = false;    // of an apply
  bool dry_run = false;  // answers as if, and stores nothing
  std::string user;
};

struct WriteReply {
  int code = 200;
  ObjectPtr body;         // the object as it stands now, or a Status
  int retry_after_s = 0;  // 0: no such header
  bool ok() const { return code >= 200 && code < 300; }
};

// One open watch. Frames are handed over as they come about; whoever holds the watch decides when
// they arrive. Dropping it closes it.
class Watch;
struct WatchSink {
  // A frame's bytes with the revision it brings; the change behind it, or null for a bookmark or an
  // error. After an ERROR frame the stream ends.
  std::function<void(std::string frame, std::int64_t revision, const Change* change)> on_frame;
  std::function<void()> on_end;  // the server ends the stream
};

class ApiServer {
 public:
  ApiServer(Store& store, const VirtualClock& clock, Random random);
  ~ApiServer();

  // Everything but watches: reads, writes, discovery. Never throws; garbage is a 400 or 404.
  ApiReply call(const ApiCall& call);
  static bool is_watch(const ApiCall& call);
  // A watch that is refused returns null, with the refusal in `reply`. Frames that are due at once
  // (initial events, history since the resourceVersion) are handed over within the call. Bookmarks
  // come from beat().
  std::shared_ptr<Watch> watch(const ApiCall& call, WatchSink sink, ApiReply& reply);

  WriteReply write(const WriteRequest& request);

  // As write(), but past the webhooks: what they are asked about is held, and `done` hears of it
  // later. Where none is installed, it hears at once.
  using Done = std::function<void(const WriteReply&)>;
  void submit(const WriteRequest& request, const Done& done);
  // What webhooks are shown of a creation: with its defaults and what admission adds in every
  // cluster.
  WriteReply draft(const WriteRequest& request);
  // Takes a write over and answers it in its own time, or leaves it alone (false). Empty: there are
  // no webhooks.
  std::function<bool(const WriteRequest&, const Done&)> admission;

  // What the cluster's ValidatingAdmissionPolicies say of somebody's valid creation or update: it
  // throws a Refusal. `live` is null of a creation. Empty: there are none.
  using Policy = std::function<void(const std::string& user, const StoreKey& key,
                                    const nlohmann::json* live, const nlohmann::json& next)>;
  Policy policy;

  // To be called once a simulated minute: bookmarks for those who asked for them.
  void beat();

  Store& store() { return store_; }

 private:
  Store& store_;
  const VirtualClock& clock_;
  Random random_;
  std::vector<std::weak_ptr<Watch>> watches_;
};

}  // namespace berth::sim
