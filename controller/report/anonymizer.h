// SPDX-License-Identifier: Apache-2.0
// Anonymizer: other names for nodes, namespaces, pods and what makes them, the same everywhere:
// "team-a" is "namespace-3" in each file of a report. Names that Kubernetes, berth and NVIDIA give
// stay.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace berth {

class Anonymizer {
 public:
  // `kept`: names that stay, such as berth's own namespace.
  explicit Anonymizer(std::set<std::string, std::less<>> kept);

  // Learns the names of a Kubernetes List, or of berth's snapshot, by the kinds of its items.
  void learn(const nlohmann::json& list);

  // A text with other names, also where they are a part of one between hyphens or dots, as in those
  // of pods that are gone and of the configs that berth renders.
  std::string apply(std::string_view text) const;
  // A document: names in its values, and in the keys of `data`. Other keys stay.
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
