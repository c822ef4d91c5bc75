// SPDX-License-Identifier: Apache-2.0
// Normaliser: makes the answers of one side comparable with the other's. What a server chooses
// freely (uids, versions, generated names) becomes a token, numbered in the order in which the
// script meets it, so that "the same uid as before" is compared though the uid is not.
// docs/simulation-truth.md lists what is left out.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/truth/memory.h"

namespace berth::truth {

class Normaliser {
 public:
  // In the order of the script.
  nlohmann::json normalise(const Answer& answer);

 private:
  nlohmann::json any(const nlohmann::json& value, const std::string& key);
  nlohmann::json object(const nlohmann::json& value);
  nlohmann::json list(const nlohmann::json& value);
  nlohmann::json bookmark(const nlohmann::json& event);
  nlohmann::json status(const nlohmann::json& value);
  nlohmann::json managed_fields(const nlohmann::json& entries);
  std::string text(const std::string& value);
  std::string token(const char* what, const std::string& value);

  std::map<std::string, std::string> tokens_;  // by what and value
  std::map<std::string, int> counts_;
  std::map<std::string, std::string> generated_;  // names, which messages repeat
};

}  // namespace berth::truth
