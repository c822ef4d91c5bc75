// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/help.h"

#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/console.h"
#include "controller/cmd/line/reference.h"

namespace berth {

FlagTable help_flags(HelpFlags& flags) {
  Flag command = text_flag("COMMAND", flags.command, "the command to describe; else all of them");
  command.kind = Flag::Kind::kPositional;
  command.value = "COMMAND";
  return {std::move(command),
          choice_flag("-o,--output", flags.output, {"text", "man", "markdown"},
                      "how it is written; man and markdown describe all commands")};
}

int run_help(const HelpFlags& flags, const CommandLine& line) {
  if (flags.output == "text") {
    const Result<std::string> help = line.help(flags.command);
    if (!help) return complain("berth help", help.error());
    put(*help);
    return 0;
  }
  if (!flags.command.empty())
    return complain(
        "berth help",
        invalid_spec("-o", flags.output + " describes all commands: leave COMMAND out"));
  const BuildFacts& facts = build_facts();
  const std::string date = facts.commit_date.substr(0, facts.commit_date.find('T'));
  put(flags.output == "man" ? manual_page(line.tree(), facts.version, date)
                            : markdown_reference(line.tree()));
  return 0;
}

}  // namespace berth
