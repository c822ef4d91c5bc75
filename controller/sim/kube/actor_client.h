// SPDX-License-Identifier: Apache-2.0
// ActorClient: how an actor of the simulation (kubelet, scheduler, user) reads and writes. Reads
// return the store's present state; an actor with an outdated view acts later instead. Writes
// follow the API server's rules under the actor's name. Calls name objects by their kind's plural.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/server/api_server.h"

namespace berth::sim {

class ActorClient {
 public:
  ActorClient(ApiServer& server, std::string user) : server_(server), user_(std::move(user)) {}

  ObjectPtr get(std::string_view plural, const std::string& namespace_,
                const std::string& name) const;
  std::vector<ObjectPtr> list(std::string_view plural, std::string_view namespace_ = {}) const;

  // Fills in apiVersion and kind if they are missing.
  WriteReply create(std::string_view plural, nlohmann::json object) const;
  // Asks the webhooks, which may take some time.
  void submit(std::string_view plural, nlohmann::json object, const ApiServer::Done& done) const;
  // Writes the whole object or its status, without a precondition unless the object has one.
  WriteReply update(std::string_view plural, nlohmann::json object,
                    const std::string& subresource = "") const;
  WriteReply merge_patch(std::string_view plural, const std::string& namespace_,
                         const std::string& name, nlohmann::json patch,
                         const std::string& subresource = "") const;
  // `force` is `kubectl apply --server-side --force-conflicts`.
  WriteReply apply(std::string_view plural, nlohmann::json object, bool force = false) const;
  WriteReply remove(std::string_view plural, const std::string& namespace_,
                    const std::string& name) const;
  // With DeleteOptions: grace period, preconditions, propagation.
  WriteReply remove(std::string_view plural, const std::string& namespace_, const std::string& name,
                    nlohmann::json options) const;

 private:
  WriteRequest request(WriteVerb verb, std::string_view plural, const std::string& namespace_,
                       const std::string& name, nlohmann::json body) const;
  WriteReply write(WriteVerb verb, std::string_view plural, const std::string& namespace_,
                   const std::string& name, nlohmann::json body,
                   const std::string& subresource = "", bool force = false) const;

  ApiServer& server_;
  std::string user_;
};

}  // namespace berth::sim
