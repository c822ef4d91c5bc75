// SPDX-License-Identifier: Apache-2.0
// ScriptDraft: a script while it is written, with a rough idea of what exists by then, so that most
// requests have something to act on. What each verb adds to it is in verbs.h.
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

// The objects of one kind that a script has made.
struct Made {
  std::set<std::string> present;
  std::set<std::string> doubtful;  // of these, the ones that may be gone
  bool generated = false;          // was one made by generateName?
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
  // The query of a write. One in eight is only tried, which is noted in the operation.
  std::string write_query(Operation& operation, const std::string& manager);

  std::string new_name(const Kind& kind);
  std::string some_name(const Kind& kind);  // mostly of an object that exists
  std::string path(const Kind& kind, const std::string& object) const;
  std::string path(const Kind& kind) const { return collection_path(kind, name()); }
  // As placeholders name it: "${uid:pods/a}".
  static std::string placeholder(const char* what, const Kind& kind, const std::string& object);

  Script take() { return std::move(script_); }

  sim::Random random;
  ObjectWriter objects;

 private:
  Script script_;
  std::map<std::string_view, Made> made_;
};

}  // namespace berth::truth
