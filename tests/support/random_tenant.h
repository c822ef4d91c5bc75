// SPDX-License-Identifier: Apache-2.0
// RandomTenant: a user with the role `edit` in one namespace, who creates, changes and deletes
// random objects of all kinds that the role allows, in all fields that matter to a queue. Most of
// these writes are refused, and some of them are what an attacker would do on purpose.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/sim/world/random.h"

namespace berth::test {

// How the tenant writes in its namespace. Kinds are named by plural; answers are HTTP codes, 0 if
// the answer comes later.
class TenantHands {
 public:
  struct Object {
    std::string name;
    std::string uid;
  };
  virtual ~TenantHands() = default;
  virtual std::vector<Object> list(const std::string& plural) = 0;
  virtual int create(const std::string& plural, nlohmann::json object) = 0;
  virtual int patch(const std::string& plural, const std::string& name,
                    const nlohmann::json& merge_patch) = 0;
  virtual int remove(const std::string& plural, const std::string& name,
                     const nlohmann::json& delete_options) = 0;
};

class RandomTenant {
 public:
  // `hands` must outlive it.
  RandomTenant(TenantHands& hands, sim::Random random) : hands_(hands), random_(random) {}

  // Does one write. Returns the write and its answer, for a transcript.
  std::string act();

 private:
  std::string create();
  std::string change();
  std::string remove();
  bool has_plenty() const;
  std::string some_kind();
  nlohmann::json some_of(const std::string& plural);
  nlohmann::json some_pod();
  nlohmann::json some_job();
  nlohmann::json some_set(const std::string& plural);
  nlohmann::json some_metadata();
  nlohmann::json some_owner();
  nlohmann::json some_patch(const std::string& plural);
  // One of the tenant's objects; empty names: it has none of this kind.
  TenantHands::Object some_object(const std::string& plural);
  nlohmann::json any(std::string_view list_of_json);

  TenantHands& hands_;
  sim::Random random_;
  int made_ = 0;
};

}  // namespace berth::test
