// SPDX-License-Identifier: Apache-2.0
// The command line itself: messages about mistyped ones; and help, reference and completion
// describe the one that the program accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string>& commands() {
  static const std::vector<std::string> names = {
      "controller", "webhook",  "certificates", "plan",    "validate",   "import", "why",
      "advise",     "snapshot", "simulate",     "version", "completion", "help"};
  return names;
}

struct Mistake {
  std::vector<std::string> typed;
  const char* said;
};

TEST(CommandLine, AMistakeIsToldWithWhatWasMeant) {
  const Mistake mistakes[] = {
      {{"plna"}, "berth: there is no command plna; did you mean plan?"},
      {{"Validate", "-f", "x"}, "berth: there is no command Validate; did you mean validate?"},
      {{"qqqqqqqq"}, "berth: there is no command qqqqqqqq\n"},
      {{"--verson"}, "berth: there is no flag --verson; did you mean --version?"},
      {{"plan", "--snapshots=x"},
       "berth plan: there is no flag --snapshots; did you mean --snapshot?"},
      {{"plan", "layout.yaml"},
       "berth plan: layout.yaml is not expected here; did you mean -f layout.yaml?"},
      {{"validate", "a.yaml", "b.yaml"}, "did you mean -f a.yaml?"},
      {{"version", "x"}, "berth version: x is not expected here\n"},
      {{"simulate", "--seed", "x", "-f", "y"},
       "berth simulate: --seed: \"x\" is not a whole number"},
      {{"plan", "--settle"}, "--settle"},
      {{"help", "pln"}, "berth help: COMMAND: there is no command pln; did you mean plan?"},
      {{"completion", "tcsh"}, "must be one of bash|zsh|fish, not \"tcsh\""},
      {{"completion"}, "must be one of bash|zsh|fish"},
  };
  for (const Mistake& mistake : mistakes) {
    const Ran ran = run_berth(mistake.typed);
    EXPECT_EQ(ran.exit_code, 1) << mistake.said;
    EXPECT_THAT(ran.err, HasSubstr(mistake.said));
    EXPECT_THAT(ran.out, IsEmpty()) << mistake.said;
  }
}

TEST(CommandLine, WithoutACommandItTellsWhichThereAre) {
  const Ran ran = run_berth({});
  EXPECT_EQ(ran.exit_code, 1);
  for (const std::string& name : commands()) EXPECT_THAT(ran.out, HasSubstr("\n  " + name)) << name;
}

TEST(CommandLine, HelpIsTheSameEitherWay) {
  for (const std::string& name : commands()) {
    const Ran flag = run_berth({name, "--help"}), word = run_berth({"help", name});
    EXPECT_EQ(flag.exit_code, 0) << flag.err;
    EXPECT_EQ(word.exit_code, 0) << word.err;
    EXPECT_EQ(flag.out, word.out) << name;
    EXPECT_THAT(flag.out, HasSubstr("Examples:\n")) << name;
    EXPECT_THAT(flag.out, HasSubstr("Usage: berth " + name)) << name;
  }
  EXPECT_EQ(run_berth({"help"}).out, run_berth({"--help"}).out);
}

TEST(CommandLine, FlagsStandUnderHeadings) {
  const std::string help = run_berth({"plan", "--help"}).out;
  const std::size_t own = help.find("\nOptions:"), cluster = help.find("\nWhich cluster"),
                    places = help.find("\nWhere things are"), advanced = help.find("\nAdvanced:");
  ASSERT_LT(own, cluster) << help;
  ASSERT_LT(cluster, places);
  ASSERT_LT(places, advanced);
  EXPECT_LT(help.find("--simulate"), cluster);
  EXPECT_THAT(help.substr(advanced), HasSubstr("--settle DURATION=5s"));
  EXPECT_THAT(help,
              AllOf(HasSubstr("--output text|json|yaml|html=text"), Not(HasSubstr("=false"))));
}

// Each line that begins with berth is a command line with existing flags.
TEST(CommandLine, ExamplesNameFlagsThatThereAre) {
  for (const std::string& name : commands()) {
    const std::string help = run_berth({name, "--help"}).out;
    const std::size_t begin = help.find("Examples:\n");
    ASSERT_NE(begin, help.npos);
    std::istringstream lines(help.substr(begin));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(0, line.find('|')));
      std::string word, command;
      if (!(words >> word >> command) || word != "berth") continue;
      const std::string known = run_berth({command, "--help"}).out;
      while (words >> word) {
        if (!word.starts_with('-') || word == "-") continue;
        EXPECT_THAT(known, ContainsRegex("[ ,]" + word.substr(0, word.find('=')) + "[ ,=\n]"))
            << line;
      }
    }
  }
}

TEST(Version, IsToldToPeopleAndToPrograms) {
  const Ran text = run_berth({"version"});
  EXPECT_THAT(text.out,
              testing::MatchesRegex("berth 0\\.[0-9.]+[-a-z0-9.]* \\(commit [0-9a-z, -]+\\)\n"));
  EXPECT_EQ(run_berth({"--version"}).out, text.out);
  const nlohmann::json json = nlohmann::json::parse(run_berth({"version", "-o", "json"}).out);
  for (const char* key : {"version", "commit", "commitDate", "treeState", "compiler", "platform"})
    EXPECT_TRUE(json.value(key, "") != "") << key;
  const std::string yaml = run_berth({"version", "-o", "yaml"}).out;
  EXPECT_THAT(yaml, StartsWith("version: \"" + json.value("version", "") + "\"\ncommit: \""));
}

TEST(Reference, ThePageIsWhatTheProgramTakes) {
  const std::string path = source_dir() + "/docs/cli.md";
  std::ifstream file(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(page, run_berth({"help", "-o", "markdown"}).out)
      << path << ": berth help -o markdown > docs/cli.md rewrites it";
}

TEST(Reference, TheManualPageIsOneThatManUnderstands) {
  const Ran page = run_berth({"help", "-o", "man"});
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, StartsWith(".TH berth 1 "));
  for (const std::string& name : commands())
    EXPECT_THAT(page.out, HasSubstr(".SS berth " + name + "\n"));
  if (!std::filesystem::exists("/usr/bin/groff"))
    GTEST_SKIP() << "NOT TESTED: no groff; scripts/install-packages";
  const Ran shown = run_program(
      {"groff", "-man", "-ww", "-Tascii", "-P-cbou", scratch_file("berth.1", page.out)});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.err, IsEmpty()) << "warnings";
  EXPECT_THAT(shown.out, AllOf(HasSubstr("--verify-for DURATION"), HasSubstr("(default: 30s)")));
}

// The completions that bash offers for the last of these words.
std::string completed(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  const Ran ran = run_program({"bash", "--norc", "-c",
                               "source <(berth completion bash); COMP_WORDS=(" + typed +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "
                                   "_berth; echo \"${COMPREPLY[*]}\""});
  EXPECT_THAT(ran.err, IsEmpty());
  return ran.out;
}

TEST(Completion, BashOffersCommandsFlagsAndWords) {
  EXPECT_EQ(completed({"berth", "pl"}), "plan\n");
  EXPECT_EQ(completed({"berth", "s"}), "snapshot stop simulate\n");
  EXPECT_EQ(completed({"berth", "plan", "--sn"}), "--snapshot\n");
  EXPECT_EQ(completed({"berth", "plan", "-o", ""}), "text json yaml html\n");
  EXPECT_EQ(completed({"berth", "plan", "--output", "=", "j"}), "json\n");
  EXPECT_EQ(completed({"berth", "plan", "--output", "="}), "text json yaml html\n");
  EXPECT_EQ(completed({"berth", "validate", "--mig-strategy", "m"}), "mixed\n");
  EXPECT_EQ(completed({"berth", "help", "ver"}), "version\n");
  EXPECT_EQ(completed({"berth", "completion", "f"}), "fish\n");
  const std::string file = scratch_file("a layout.yaml", "");
  EXPECT_EQ(completed({"berth", "plan", "-f", file.substr(0, file.size() - 3)}), file + "\n");
  EXPECT_EQ(completed({"berth", "plan", "--settle", ""}), "\n") << "a duration is nobody's guess";
}

TEST(Completion, TheOtherShellsTakeTheirs) {
  for (const std::string shell : {"zsh", "fish"}) {
    const Ran script = run_berth({"completion", shell});
    ASSERT_EQ(script.exit_code, 0) << script.err;
    for (const std::string& name : commands()) EXPECT_THAT(script.out, HasSubstr(name)) << shell;
    if (!std::filesystem::exists("/usr/bin/" + shell)) continue;
    const Ran checked = run_program({shell, "-n", scratch_file("completion." + shell, script.out)});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.err, IsEmpty()) << shell;
  }
}

TEST(Completion, FishOffersCommandsFlagsAndWords) {
  if (!std::filesystem::exists("/usr/bin/fish"))
    GTEST_SKIP() << "NOT TESTED: no fish; scripts/install-packages";
  const auto offered = [](const std::string& line) {
    return run_program({"fish", "--no-config", "-c",
                        "berth completion fish | source; complete -C '" + line + "'"})
        .out;
  };
  EXPECT_THAT(offered("berth pl"), StartsWith("plan\t"));
  EXPECT_THAT(offered("berth plan --sn"), StartsWith("--snapshot\t"));
  EXPECT_THAT(offered("berth plan -o "), AllOf(HasSubstr("text"), HasSubstr("json")));
  EXPECT_THAT(offered("berth help ver"), StartsWith("version"));
}

// kubectl runs kubectl-NAME on the PATH as `kubectl NAME`.
TEST(CommandLine, AsKubectlsPluginItCallsItselfSo) {
  const std::string link =
      (std::filesystem::path(scratch_file("x", "")).parent_path() / "kubectl-berth").string();
  std::filesystem::remove(link);
  std::filesystem::create_symlink(binary_dir() + "/berth", link);
  EXPECT_THAT(run_program({link, "plan", "--help"}).out, HasSubstr("Usage: kubectl berth plan"));
  EXPECT_THAT(run_program({link, "plna"}).err, StartsWith("kubectl berth: there is no command"));
  EXPECT_EQ(run_program({link, "help", "-o", "markdown"}).out,
            run_berth({"help", "-o", "markdown"}).out);
}

}  // namespace
}  // namespace berth::test
