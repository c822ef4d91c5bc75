// SPDX-License-Identifier: Apache-2.0
// JsonCursor: a position in a parsed nlohmann-json document that knows its path. If a value is
// absent or null, read() keeps the default. The cursor stores the first wrong type as the error,
// with its path; later reads stay safe. For kinds of which there are few objects.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"

namespace berth {

class JsonCursor {
 public:
  // Both must outlive the cursor. A null pointer is an absent value.
  JsonCursor(const nlohmann::json* value, std::optional<Error>& error)
      : value_(value), error_(&error) {}

  bool present() const;
  JsonCursor operator[](std::string_view key) const;
  std::vector<JsonCursor> items() const;                           // of a list
  std::vector<std::pair<std::string, JsonCursor>> fields() const;  // of an object
  void fail(std::string_view message) const;
  void fail_at(std::string path, std::string message) const;
  const std::string& path() const { return path_; }
  const nlohmann::json* json() const { return value_; }

  void read(std::string& out) const;
  void read(Text& out) const;
  void read(bool& out) const;
  void read(std::int32_t& out) const;
  void read(std::int64_t& out) const;
  void read(std::optional<std::int64_t>& out) const;
  void read(Time& out) const;
  void read(std::optional<Time>& out) const;
  void read(Duration& out) const;
  void read(IntOrPercent& out) const;
  void read(StringMap& out) const;
  void read(Quantity& out) const;
  void read(ResourceList& out) const;
  void read(std::map<std::string, std::string>& out) const;
  void read(std::map<std::string, std::int64_t>& out) const;
  void read(std::vector<Text>& out) const;
  void read(std::vector<std::string>& out) const;
  void read(std::vector<std::int32_t>& out) const;
  void read(std::vector<Toleration>& out) const;
  void read(LabelSelector& out) const;
  void read(std::optional<LabelSelector>& out) const;
  void read(ObjectMeta& out) const;  // with every annotation

 private:
  void expect(std::string_view expected) const;
  template <class T>
  void read_integer(T& out) const;
  template <class T>
  void read_list(std::vector<T>& out) const;

  const nlohmann::json* value_;
  std::optional<Error>* error_;
  std::string path_;
};

}  // namespace berth
