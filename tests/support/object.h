// SPDX-License-Identifier: Apache-2.0
// Object: one API object, or any part of one, read by JSON pointers ("/status/phase"). Absent
// fields read as "", 0 or nothing, so that a test never crashes on a missing field. Cheap to copy;
// immutable.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

class Object {
 public:
  Object();  // null
  explicit Object(nlohmann::json value);
  static Object parse(
      const std::string& json_text);  // throws std::runtime_error with the text's beginning

  bool has(const std::string& pointer) const;
  std::string text(const std::string& pointer)
      const;  // strings as they are, everything else as JSON, absent as ""
  long long number(
      const std::string& pointer) const;  // also of numbers written as strings ("4"); absent 0
  bool truth(const std::string& pointer) const;
  Object at(const std::string& pointer) const;  // null if absent
  std::vector<Object> items(
      const std::string& pointer = "/items") const;  // a list's entries; {} if absent
  std::map<std::string, std::string> strings(
      const std::string& pointer) const;  // an object's entries as text

  std::string name() const { return text("/metadata/name"); }
  std::string ns() const { return text("/metadata/namespace"); }
  std::string uid() const { return text("/metadata/uid"); }
  std::string resource_version() const { return text("/metadata/resourceVersion"); }
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
  // The status ("True", "False", "Unknown" or "") of a condition in /status/conditions, or another
  // field.
  std::string condition(const std::string& type, const std::string& field = "status") const;

  std::string dump() const;
  const nlohmann::json& value() const { return *value_; }

 private:
  std::shared_ptr<const nlohmann::json> value_;
};

// One step of a JSON pointer for a key such as "nvidia.com/mig.config": / and ~ become ~1 and ~0.
std::string pointer_step(std::string_view key);

}  // namespace berth::test
