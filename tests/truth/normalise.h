// SPDX-License-Identifier: Apache-2.0
// Normaliser: makes the answers of both sides comparable. Values that a server chooses freely
// (uids, versions, generated names) become tokens, numbered in the order of the script, so that
// "the same uid as before" can be compared. docs/simulation-truth.md lists what is left out.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/truth/memory.h"

namespace berth::truth {

class Normaliser {
 public:
  // Call it in the order of the script.
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

  std::map<std::string, std::string> tokens_;  // by kind and value
  std::map<std::string, int> counts_;
  std::map<std::string, std::string> generated_;  // names, which messages repeat
};

}  // namespace berth::truth
