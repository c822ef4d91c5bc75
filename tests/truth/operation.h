// SPDX-License-Identifier: Apache-2.0
// Operation: one request of a script, as data. Values that only the server knows (uids, versions,
// continue tokens) are placeholders in it, which a side's Memory (memory.h) replaces by that side's
// earlier answers:
//   ${uid:pods/a} ${rv:pods/a}          as the object was seen last
//   ${old-uid:pods/a} ${old-rv:pods/a}  as it was seen first
//   ${since:pods/a}                     its version as seen last, ${start} if it was never seen
//   ${start}                            the version at the start of the script
//   ${continue}                         the token of the previous list
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace berth::truth {

enum class Verb {
  kCreate,
  kGet,
  kList,
  kUpdate,
  kStatusUpdate,
  kJsonPatch,
  kMergePatch,
  kStatusPatch,
  kApply,
  kDelete,
  kEvict,
  kWatch,
};
inline constexpr std::array<std::string_view, 12> kVerbNames = {
    "create",      "get",          "list",  "update", "update status", "json patch",
    "merge patch", "status patch", "apply", "delete", "evict",         "watch"};
inline std::string_view to_string(Verb verb) { return kVerbNames[static_cast<std::size_t>(verb)]; }

struct Operation {
  Verb verb;
  std::string plural;
  std::string what;  // for users: "PUT with a stale version"
  std::string method;
  std::string target;
  std::string content_type = "application/json";
  std::string body;
  // The body is a merge patch for `edited` ("pods/a") as seen last; the result is sent.
  std::string edited;
  bool dry_run = false;
};

struct Script {
  std::uint64_t seed;
  std::string name;  // its namespace, and the prefix of its cluster-scoped objects
  std::vector<Operation> operations;
};

}  // namespace berth::truth
