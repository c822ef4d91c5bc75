// SPDX-License-Identifier: Apache-2.0
// Fields: one map of a scenario file, read strictly. Each read() names a field that may stand
// there; finish() complains of those that nobody asked for. What is absent keeps its default, what
// is wrong too, with a complaint.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apis/layout_fields.h"

namespace berth {

class Fields {
 public:
  // `map` may be anything; all but a map is a complaint.
  Fields(const nlohmann::json& map, std::string path, std::vector<Complaint>& complaints);

  // Null if absent. The caller checks its type.
  const nlohmann::json* find(const std::string& key);
  bool has(const std::string& key) { return find(key) != nullptr; }
  // As against has(), true of a field without a value too.
  bool has_key(const std::string& key) const;
  std::vector<std::string> keys() const;

  void read(const std::string& key, std::string& out);
  void read(const std::string& key, bool& out);
  void read(const std::string& key, int& out, int min, int max);
  void read(const std::string& key, std::chrono::milliseconds& out);
  void read(const std::string& key, std::chrono::nanoseconds& out);
  void read(const std::string& key, std::map<std::string, std::string>& out);
  void read_choice(const std::string& key, std::string& out, const std::vector<std::string>& words);
  // The items of a list, none if it is absent or no list, which is a complaint.
  std::vector<const nlohmann::json*> items(const std::string& key);

  void require(const std::string& key, const std::string& advice);
  void complain(const std::string& key, std::string message);
  // Complains of unknown fields; `more` are names that may stand here and were not read.
  void finish(const std::vector<std::string>& more = {});

  std::string path_of(const std::string& key) const;
  std::vector<Complaint>& complaints() { return complaints_; }

 private:
  const nlohmann::json* map_;  // null: no map
  std::string path_;
  std::vector<Complaint>& complaints_;
  std::vector<std::string> known_;
};

// "must be one of a, b, c", or with the nearest of them.
std::string no_such_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace berth
