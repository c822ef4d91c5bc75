// SPDX-License-Identifier: Apache-2.0
// Fields: one map of a scenario file, read strictly. Each read() names an allowed field. finish()
// reports all fields that no call has read. An absent field keeps its default; so does a wrong one,
// with a complaint.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/layout_fields.h"

namespace berth {

class Fields {
 public:
  // `map` may have any type; if it is no map, that is a complaint.
  Fields(const nlohmann::json& map, std::string path, std::vector<Complaint>& complaints);

  // Null if absent. The caller checks its type.
  const nlohmann::json* find(const std::string& key);
  bool has(const std::string& key) { return find(key) != nullptr; }
  // Unlike has(), also true for a field without a value.
  bool has_key(const std::string& key) const;
  std::vector<std::string> keys() const;

  void read(const std::string& key, std::string& out);
  void read(const std::string& key, bool& out);
  void read(const std::string& key, int& out, int min, int max);
  void read(const std::string& key, std::chrono::milliseconds& out);
  void read(const std::string& key, std::chrono::nanoseconds& out);
  void read(const std::string& key, std::map<std::string, std::string>& out);
  void read_choice(const std::string& key, std::string& out, const std::vector<std::string>& words);
  // The items of a list. None if the field is absent, or if it is no list, which is a complaint.
  std::vector<const nlohmann::json*> items(const std::string& key);

  void require(const std::string& key, const std::string& advice);
  void complain(const std::string& key, std::string message);
  // Reports unknown fields; `more` names allowed fields that were not read.
  void finish(const std::vector<std::string>& more = {});

  std::string path_of(const std::string& key) const;
  std::vector<Complaint>& complaints() { return complaints_; }

 private:
  const nlohmann::json* map_;  // null: not a map
  std::string path_;
  std::vector<Complaint>& complaints_;
  std::vector<std::string> known_;
};

// "must be one of a, b, c", or with the most similar word.
std::string no_such_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace berth
