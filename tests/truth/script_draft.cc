// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/script_draft.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace berth::truth {

ScriptDraft::ScriptDraft(std::uint64_t seed)
    : random(seed),
      objects(fmt::format("t{}", seed), random),
      script_{seed, fmt::format("t{}", seed), {}} {}

Operation& ScriptDraft::add(Verb verb, const Kind& kind, std::string what, std::string method,
                            std::string target) {
  script_.operations.push_back(
      {verb, std::string(kind.plural), std::move(what), std::move(method), std::move(target)});
  return script_.operations.back();
}

std::string ScriptDraft::write_query(Operation& operation, const std::string& manager) {
  operation.dry_run = random.one_in(8);
  return fmt::format("?fieldManager={}&fieldValidation=Warn{}", manager,
                     operation.dry_run ? "&dryRun=All" : "");
}

std::string ScriptDraft::new_name(const Kind& kind) {
  // If two quotas apply to a pod, the server picks at random which comes first.
  if (kind.plural == "resourcequotas") return "a";
  std::string out = objects.any_of({"a", "b", "c"});
  return kind.namespaced ? out : name() + "-" + out;
}

std::string ScriptDraft::some_name(const Kind& kind) {
  const std::set<std::string>& present = made(kind).present;
  if (present.empty() || random.one_in(12)) return new_name(kind);
  return *std::next(present.begin(), static_cast<long>(random.below(present.size())));
}

std::string ScriptDraft::path(const Kind& kind, const std::string& object) const {
  return collection_path(kind, name()) + "/" + object;
}

std::string ScriptDraft::placeholder(const char* what, const Kind& kind,
                                     const std::string& object) {
  return fmt::format("${{{}:{}/{}}}", what, kind.plural, object);
}

}  // namespace berth::truth
