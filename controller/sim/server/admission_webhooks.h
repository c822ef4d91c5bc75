// SPDX-License-Identifier: Apache-2.0
// AdmissionWebhooks: how a kube-apiserver with berth's webhook configurations creates a pod or a
// Job. It holds the creation, asks the mutating webhook, applies the patch, validates the result,
// asks the validating webhook, and stores the object. An answer after the timeout has no effect;
// failurePolicy then decides about the creation.
//
// It lives on the world's loop, and is the server's `admission` hook while it exists.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "controller/sim/server/api_server.h"
#include "controller/sim/server/webhook_rules.h"
#include "controller/sim/world/random.h"
#include "controller/sim/world/virtual_loop.h"

namespace berth::sim {

// Code 0: no process listens, or the connection broke.
struct WebhookAnswer {
  int code = 0;
  std::string body;
};

// Faults of one review.
struct ReviewFault {
  bool unreachable = false;
  std::chrono::nanoseconds delay{0};  // of the answer
  // For a mutation: another webhook then changes the object, so the server asks this one again
  // (reinvocationPolicy: IfNeeded).
  bool asked_again = false;
  // The reply to the creation is lost, and its client sends it again.
  bool sent_again = false;
};

// How the creation of `key` passed the webhooks; its name may still be empty.
struct Passage {
  StoreKey key;
  MonotonicTime asked{0};  // when the first review left
  bool reviewed = true;    // false: a webhook did not answer, and failurePolicy is Ignore
};

class AdmissionWebhooks {
 public:
  struct Hooks {
    // Sends a review by POST to "/mutate" or "/validate"; the answer may come at any time.
    std::function<void(const std::string& path, const std::string& review,
                       std::function<void(WebhookAnswer)>)>
        ask;
    std::function<ReviewFault(const std::string& path, const StoreKey&)> on_review;  // may be empty
    // may be empty; called right before the object is stored
    std::function<void(const Passage&)> on_passed;
  };
  AdmissionWebhooks(ApiServer& server, VirtualLoop& network, const VirtualClock& clock,
                    Random random, WebhookRules rules);
  ~AdmissionWebhooks();
  AdmissionWebhooks(const AdmissionWebhooks&) = delete;
  AdmissionWebhooks& operator=(const AdmissionWebhooks&) = delete;

  Hooks hooks;

 private:
  struct Creation;  // from its request to its reply
  using CreationPtr = std::shared_ptr<Creation>;
  struct Review;  // one question
  using Next = std::function<void(nlohmann::json response)>;

  bool take(const WriteRequest& request, const ApiServer::Done& done);
  bool concerns(const StoreKey& key, const nlohmann::json& object) const;
  void mutate(const CreationPtr& creation, bool may_come_again);
  void validate(const CreationPtr& creation);
  void store(const CreationPtr& creation);
  void finish(const CreationPtr& creation, const WriteReply& reply);
  void ask(const CreationPtr& creation, const std::string& path, const Next& next,
           const ReviewFault& fault);
  void conclude(const std::shared_ptr<Review>& review, const WebhookAnswer& answer);
  void go_without(const Review& review, const std::string& why);
  std::string review_text(const Creation& creation, const std::string& uid) const;
  ReviewFault fault_of(const std::string& path, Creation& creation) const;
  std::chrono::nanoseconds one_way();

  ApiServer& server_;
  VirtualLoop& network_;
  const VirtualClock& clock_;
  Random random_;
  const WebhookRules rules_;
};

}  // namespace berth::sim
