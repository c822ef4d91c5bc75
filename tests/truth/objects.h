// SPDX-License-Identifier: Apache-2.0
// The objects of scripts. They contain every field that the real server would default, and all
// times are in 2020: the comparison is about requests, not about defaults (docs/simulation-truth.md
// lists those as left out).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/world/random.h"
#include "tests/truth/kinds.h"

namespace berth::truth {

struct Edit {
  std::string what;       // for users
  nlohmann::json change;  // a merge patch
};

class ObjectWriter {
 public:
  ObjectWriter(std::string script, sim::Random& random)
      : script_(std::move(script)), random_(random) {}

  // apiVersion, kind, metadata with name and namespace.
  nlohmann::json bare(const Kind& kind, const std::string& name) const;
  nlohmann::json full(const Kind& kind, const std::string& name);
  // Changes of metadata or spec; one in eight is wrong.
  Edit some_edit(const Kind& kind);
  // Edits that the server accepts.
  Edit metadata_edit(const Kind& kind);
  Edit spec_edit(const Kind& kind);
  Edit status_edit(const Kind& kind);
  // An edit that it refuses.
  Edit wrong_edit(const Kind& kind);

  template <typename T>
  T any_of(std::initializer_list<T> options) {
    return *(options.begin() + random_.below(options.size()));
  }

 private:
  static nlohmann::json taint(const std::string& key, const std::string& effect);
  nlohmann::json webhook(const Kind& kind, const std::string& name);
  static nlohmann::json node_status(const std::string& instances);
  nlohmann::json pod_spec();
  void add_priority(nlohmann::json& pod_spec);
  nlohmann::json job_spec(const std::string& name);
  // workload_edits.cc
  nlohmann::json bounds();
  nlohmann::json pod_edit();
  nlohmann::json job_edit();
  nlohmann::json quota_edit();
  nlohmann::json job_status();
  nlohmann::json quota_status();
  Edit wrong_pod_edit();
  Edit wrong_quota_edit();

  std::string script_;
  sim::Random& random_;
};

}  // namespace berth::truth
