// SPDX-License-Identifier: Apache-2.0
// Refusal: a request that the server refuses, as its metav1.Status. Code below ApiServer::call()
// and write() throws it, and these catch it. Reasons, causes and most messages are the real
// server's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/server/api_server.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

struct Cause {
  std::string reason;   // "FieldValueInvalid"
  std::string message;  // "Invalid value: …"
  std::string field;    // "metadata.uid"; may be empty
};

struct Refusal {
  int code = 500;
  std::string reason;
  std::string message;
  ObjectPtr details;  // null: none
  int retry_after_s = 0;

  nlohmann::json status() const;
};

Refusal bad_request(std::string message);
Refusal not_served();  // no such path
Refusal method_not_allowed();
Refusal unsupported_media_type();
Refusal not_found(const ResourceType& type, const std::string& name);
Refusal already_exists(const ResourceType& type, const std::string& name);
// `as_kind`: names the object by its kind, as preconditions of deletes do.
Refusal conflict(const ResourceType& type, const std::string& name, const std::string& why,
                 bool as_kind = false);
Refusal modified(const ResourceType& type, const std::string& name);
Refusal forbidden(const ResourceType& type, const std::string& name, const std::string& why,
                  const std::vector<Cause>& causes = {});
Refusal invalid(const ResourceType& type, const std::string& name,
                const std::vector<Cause>& causes);
// The same about the resource: for errors from its storage, not from validation.
Refusal invalid_resource(const ResourceType& type, const std::string& name,
                         const std::vector<Cause>& causes);
// For a malformed body, before the object is known.
Refusal invalid_options(const std::string& kind, const std::vector<Cause>& causes);
Refusal refused_patch();  // a JSON patch that does not apply
Refusal too_many_requests(std::string message, std::vector<Cause> causes, int retry_after_s);
Refusal expired(std::string message);
Refusal version_too_large(std::int64_t wanted, std::int64_t current);
Refusal internal_error(std::string message);

// Field errors with the real server's words.
Cause invalid_value(std::string field, const std::string& value, const std::string& why);
Cause required_value(std::string field, const std::string& why = "");
Cause forbidden_field(std::string field, const std::string& why);
Cause immutable(std::string field, const std::string& value);

std::string quote(std::string_view text);  // as a JSON string

}  // namespace berth::sim
