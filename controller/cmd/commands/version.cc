// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/version.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apis/base/printable.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/console.h"

namespace berth {

FlagTable version_flags(VersionFlags& flags) {
  return {choice_flag("-o,--output", flags.output, {"text", "json", "yaml"}, "how it is written")};
}

int run_version(const VersionFlags& flags) {
  const BuildFacts& facts = build_facts();
  if (flags.output == "text") {
    put_line("berth " + summary(facts));
    return 0;
  }
  const bool json = flags.output == "json";
  const std::vector<std::pair<const char*, std::string>> fields = {
      {"version", facts.version},        {"commit", facts.commit},
      {"commitDate", facts.commit_date}, {"treeState", facts.tree_state},
      {"compiler", facts.compiler},      {"platform", facts.platform}};
  std::string text = json ? "{\n" : "";
  for (const auto& [key, value] : fields) {
    const bool last = key == fields.back().first;
    // Double-quoted text is the same in JSON and YAML.
    text += json ? fmt::format("  \"{}\": {}{}\n", key, printable_quoted(value), last ? "" : ",")
                 : fmt::format("{}: {}\n", key, printable_quoted(value));
  }
  put(text + (json ? "}\n" : ""));
  return 0;
}

}  // namespace berth
