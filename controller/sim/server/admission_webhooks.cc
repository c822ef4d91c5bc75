// SPDX-License-Identifier: Apache-2.0
// Outline: take() starts a creation; mutate(), validate() and store() are its stages. Each asks
// with ask(). conclude() handles the answer or the timeout, whichever comes first.
#include "controller/sim/server/admission_webhooks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/base64.h"
#include "apis/codec/parse_json.h"
#include "controller/sim/server/patch.h"
#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kFastest = 500us;
constexpr std::chrono::nanoseconds kSlowest = 4ms;

// In the simulation, Kubernetes' controllers have only their accounts' short names.
std::string username_of(const std::string& user) {
  return user.ends_with("-controller") ? "system:serviceaccount:kube-system:" + user : user;
}

WriteReply refusal(int code, const std::string& reason, const std::string& message) {
  const Refusal refused{code, reason, message, {}};
  return {code, std::make_shared<const json>(refused.status())};
}

}  // namespace

struct AdmissionWebhooks::Creation {
  WriteRequest request;
  ApiServer::Done done;
  json object;
  Passage passage;
  bool sent_again = false;
};

struct AdmissionWebhooks::Review {
  CreationPtr creation;
  std::string path;
  std::string uid;
  Next next;
  Loop::TimerId timeout = 0;
  bool over = false;
};

AdmissionWebhooks::AdmissionWebhooks(ApiServer& server, VirtualLoop& network,
                                     const VirtualClock& clock, Random random, WebhookRules rules)
    : server_(server), network_(network), clock_(clock), random_(random), rules_(std::move(rules)) {
  server_.admission = [this](const WriteRequest& request, const ApiServer::Done& done) {
    return take(request, done);
  };
}

AdmissionWebhooks::~AdmissionWebhooks() { server_.admission = nullptr; }

std::chrono::nanoseconds AdmissionWebhooks::one_way() {
  return random_.between(kFastest, kSlowest);
}

bool AdmissionWebhooks::take(const WriteRequest& request, const ApiServer::Done& done) {
  const StoreKey& key = request.key;
  if (request.verb != WriteVerb::kCreate || key.type == nullptr || webhook_of(*key.type).empty() ||
      !rules_.selects(server_.store(), key.namespace_))
    return false;
  const WriteReply draft = server_.draft(request);
  if (!draft.ok() || !concerns(key, *draft.body)) return false;
  auto creation = std::make_shared<Creation>();
  creation->request = request;
  creation->done = done;
  creation->object = *draft.body;
  creation->passage = {.key = key, .asked = clock_.now()};
  mutate(creation, true);
  return true;
}

bool AdmissionWebhooks::concerns(const StoreKey& key, const json& object) const {
  static const json nothing = json::object();
  const bool pod = key.type->kind == "Pod";
  const json* home = pod ? &object : find_at(object, {"spec", "template"});
  if (home == nullptr) return false;
  const json* spec = find_at(*home, {"spec"});
  const json* metadata = find_at(*home, {"metadata"});
  return concerns_gpus(spec == nullptr ? nothing : *spec,
                       metadata == nullptr ? nothing : *metadata);
}

ReviewFault AdmissionWebhooks::fault_of(const std::string& path, Creation& creation) const {
  const ReviewFault fault =
      hooks.on_review ? hooks.on_review(path, creation.request.key) : ReviewFault{};
  creation.sent_again = creation.sent_again || fault.sent_again;
  return fault;
}

void AdmissionWebhooks::mutate(const CreationPtr& creation, bool may_come_again) {
  const ReviewFault fault = fault_of("/mutate", *creation);
  const Next next = [this, creation,
                     again =
                         may_come_again && (fault.asked_again || rules_.reinvoked)](json response) {
    if (const std::string text = text_at(response, {"patch"}); !text.empty()) {
      try {
        apply_json_patch(creation->object, parse_json(decode_base64(text).value_or("")));
      } catch (const Refusal& refused) {
        // failurePolicy applies only to webhooks that do not answer.
        return finish(creation,
                      refusal(500, "InternalError", "Internal error occurred: " + refused.message));
      }
    }
    again ? mutate(creation, false) : validate(creation);
  };
  ask(creation, "/mutate", next, fault);
}

// Validating webhooks see the object as it would be stored, with its name.
void AdmissionWebhooks::validate(const CreationPtr& creation) {
  WriteRequest tried = creation->request;
  tried.body = std::make_shared<const json>(creation->object);
  tried.dry_run = true;
  const WriteReply reply = server_.write(tried);
  if (!reply.ok()) return finish(creation, reply);
  creation->object["metadata"]["name"] = text_at(*reply.body, {"metadata", "name"});
  ask(
      creation, "/validate", [this, creation](const json&) { store(creation); },
      fault_of("/validate", *creation));
}

void AdmissionWebhooks::store(const CreationPtr& creation) {
  WriteRequest request = creation->request;
  request.body = std::make_shared<const json>(creation->object);
  creation->passage.key.name = text_at(creation->object, {"metadata", "name"});
  if (hooks.on_passed) hooks.on_passed(creation->passage);
  finish(creation, server_.write(request));
}

void AdmissionWebhooks::finish(const CreationPtr& creation, const WriteReply& reply) {
  if (std::exchange(creation->sent_again, false))
    return server_.submit(creation->request, creation->done);
  creation->done(reply);
}

void AdmissionWebhooks::ask(const CreationPtr& creation, const std::string& path, const Next& next,
                            const ReviewFault& fault) {
  auto review = std::make_shared<Review>();
  review->creation = creation;
  review->path = path;
  review->uid = random_.uuid();
  review->next = next;
  review->timeout = network_.call_after(rules_.timeout, [this, review] {
    if (std::exchange(review->over, true)) return;
    go_without(*review, "context deadline exceeded");
  });
  const std::chrono::nanoseconds there = one_way(), back = one_way() + fault.delay;
  if (fault.unreachable) {
    network_.call_after(there, [this, review] { conclude(review, {}); });
    return;
  }
  network_.call_after(there, [this, review, back, text = review_text(*creation, review->uid)] {
    hooks.ask(review->path, text,
              [this, review, back, &network = network_](const WebhookAnswer& answer) {
                network.call_after(back, [this, review, answer] { conclude(review, answer); });
              });
  });
}

void AdmissionWebhooks::conclude(const std::shared_ptr<Review>& review,
                                 const WebhookAnswer& answer) {
  if (std::exchange(review->over, true)) return;  // after the timeout
  network_.cancel(review->timeout);
  if (answer.code == 0) return go_without(*review, "connect: connection refused");
  const json body = parse_json(answer.body);
  const json* response = body.is_discarded() ? nullptr : find_at(body, {"response"});
  if (answer.code != 200 || response == nullptr || text_at(*response, {"uid"}) != review->uid)
    return go_without(*review, fmt::format("the server answered {}", answer.code));
  if (true_at(*response, {"allowed"})) return review->next(*response);
  const auto code = static_cast<int>(integer_at(*response, {"status", "code"}).value_or(403));
  finish(review->creation, refusal(code, text_at(*response, {"status", "reason"}),
                                   fmt::format("admission webhook \"{}\" denied the request: {}",
                                               webhook_of(*review->creation->request.key.type),
                                               text_at(*response, {"status", "message"}))));
}

void AdmissionWebhooks::go_without(const Review& review, const std::string& why) {
  if (rules_.failure_policy == WebhookRules::FailurePolicy::kIgnore) {
    review.creation->passage.reviewed = false;
    return review.next(json::object());
  }
  finish(review.creation,
         refusal(500, "InternalError",
                 fmt::format("Internal error occurred: failed calling webhook \"{}\": failed to "
                             "call webhook: Post \"https://berth-webhook.berth-system.svc:443{}"
                             "?timeout={}s\": {}",
                             webhook_of(*review.creation->request.key.type), review.path,
                             rules_.timeout / 1s, why)));
}

std::string AdmissionWebhooks::review_text(const Creation& creation, const std::string& uid) const {
  const ResourceType& type = *creation.request.key.type;
  json request;
  request["uid"] = uid;
  request["kind"] = {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
  request["resource"] = {
      {"group", type.group}, {"version", type.version}, {"resource", type.plural}};
  request["namespace"] = creation.request.key.namespace_;
  if (const std::string name = text_at(creation.object, {"metadata", "name"}); !name.empty())
    request["name"] = name;
  request["operation"] = "CREATE";
  request["userInfo"] = {{"username", username_of(creation.request.user)}};
  request["object"] = creation.object;
  request["oldObject"] = nullptr;
  request["dryRun"] = creation.request.dry_run;
  request["options"] = {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  return to_text({{"kind", "AdmissionReview"},
                  {"apiVersion", "admission.k8s.io/v1"},
                  {"request", std::move(request)}});
}

}  // namespace berth::sim
