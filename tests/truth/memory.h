// SPDX-License-Identifier: Apache-2.0
// Memory: the answers that the client of one side got, for operations that refer to them.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/truth/operation.h"

namespace berth::truth {

struct Request {
  std::string method;
  std::string target;
  std::string content_type;
  std::string body;
};

struct Answer {
  int code = 0;
  nlohmann::json body;  // for a watch: the list of its events
};

class Memory {
 public:
  Request fill(const Operation& operation) const;
  void take(const Operation& operation, const Answer& answer);

 private:
  struct Seen {
    nlohmann::json last;
    std::string first_uid, first_version;
  };
  std::string filled(const std::string& text) const;
  std::string value_of(const std::string& placeholder) const;
  void see(const std::string& plural, const nlohmann::json& object);

  std::map<std::string, Seen> seen_;  // by plural/name
  std::string start_ = "1";
  std::string continue_;  // empty: there was no further page
};

}  // namespace berth::truth
