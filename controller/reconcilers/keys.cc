// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/keys.h"

#include "controller/reconcilers/key_families.h"

namespace berth {
namespace {

std::vector<std::string> keys_of(bool KeyFamily::*news) {
  std::vector<std::string> keys;
  for (const KeyFamily& family : kKeyFamilies)
    if (family.*news) keys.emplace_back(family.prefix);
  return keys;
}

}  // namespace

std::vector<std::string> all_keys(const ClusterState& cluster, const Settings& settings) {
  std::vector<std::string> keys = all_mig_keys(cluster, settings);
  for (std::string& key : all_policy_keys(cluster)) keys.push_back(std::move(key));
  for (std::string& key : keys_of_policy_edit()) keys.push_back(std::move(key));
  for (std::string& key : all_bypass_keys(cluster, settings)) keys.push_back(std::move(key));
  for (std::string& key : queue::all_queue_keys(cluster, settings)) keys.push_back(std::move(key));
  return keys;
}

std::vector<std::string> keys_of_policy_edit() { return keys_of(&KeyFamily::on_policy_edit); }
std::vector<std::string> keys_of_samples() { return keys_of(&KeyFamily::on_samples); }

}  // namespace berth
