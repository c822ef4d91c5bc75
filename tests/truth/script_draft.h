// SPDX-License-Identifier: Apache-2.0
// ScriptDraft: an unfinished script. It tracks roughly which objects exist, so that most requests
// affect one. verbs.h adds the requests.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "controller/sim/world/random.h"
#include "tests/truth/kinds.h"
#include "tests/truth/objects.h"
#include "tests/truth/operation.h"

namespace berth::truth {

// The objects of one kind that a script has created.
struct Made {
  std::set<std::string> present;
  std::set<std::string> doubtful;  // those that may be gone
  bool generated = false;          // one was created by generateName
};

class ScriptDraft {
 public:
  explicit ScriptDraft(std::uint64_t seed);
  ScriptDraft(const ScriptDraft&) = delete;

  const std::string& name() const { return script_.name; }
  std::size_t size() const { return script_.operations.size(); }
  Made& made(const Kind& kind) { return made_[kind.plural]; }

  Operation& add(Verb verb, const Kind& kind, std::string what, std::string method,
                 std::string target);
  // The query of a write. One in eight is a dry run, which is noted in the operation.
  std::string write_query(Operation& operation, const std::string& manager);

  std::string new_name(const Kind& kind);
  std::string some_name(const Kind& kind);  // mostly of an existing object
  std::string path(const Kind& kind, const std::string& object) const;
  std::string path(const Kind& kind) const { return collection_path(kind, name()); }
  // The form of placeholders: "${uid:pods/a}".
  static std::string placeholder(const char* what, const Kind& kind, const std::string& object);

  Script take() { return std::move(script_); }

  sim::Random random;
  ObjectWriter objects;

 private:
  Script script_;
  std::map<std::string_view, Made> made_;
};

}  // namespace berth::truth
