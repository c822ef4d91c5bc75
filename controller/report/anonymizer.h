// SPDX-License-Identifier: Apache-2.0
// Anonymizer: replaces the names of nodes, namespaces, pods and their owners, consistently:
// "team-a" is "namespace-3" in every file of a report. It keeps the names that Kubernetes, berth
// and NVIDIA choose.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace berth {

class Anonymizer {
 public:
  // `kept`: names that it must not replace, such as berth's own namespace.
  explicit Anonymizer(std::set<std::string, std::less<>> kept);

  // Learns the names in a Kubernetes List, or in berth's snapshot, by the kinds of the items.
  void learn(const nlohmann::json& list);

  // Replaces the names in a text. It also replaces a part of a name between hyphens or dots, for
  // example in names of deleted pods and of the configs that berth renders.
  std::string apply(std::string_view text) const;
  // Replaces names in a JSON document: in values, and in the keys of `data`, but not in other keys.
  std::string apply_json(const std::string& text) const;

 private:
  void add(const std::string& kind, const std::string& name);
  std::size_t known_at(std::string_view text) const;
  std::string name_for(std::string_view token) const;
  void replace_in(nlohmann::json& value, bool keys) const;

  std::set<std::string, std::less<>> kept_;
  std::map<std::string, std::string, std::less<>> names_;
  std::map<std::string, int> counts_;
};

}  // namespace berth
