// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <vector>

#include "apis/base/nearest_name.h"
#include "controller/cmd/line/console.h"

namespace berth {
namespace {

constexpr int kUsageError = 1;

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

CommandOption describe(const CLI::Option& option) {
  CommandOption out{
      .value = option.get_type_name(),
      .default_value = option.get_default_str(),
      .help = option.get_description(),
      .group = option.get_group(),
      .positional = option.get_positional(),
      .repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size};
  if (out.positional) out.names.push_back(option.get_name(/*positional=*/true));
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  return out;
}

CommandTree describe(const CLI::App& app, const std::string& examples) {
  CommandTree out{.name = app.get_name(), .summary = app.get_description(), .examples = examples};
  for (const CLI::Option* option : app.get_options()) out.options.push_back(describe(*option));
  return out;
}

// "; did you mean plan?", or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string first_of(const std::vector<std::string>& words, bool flags) {
  const auto found = std::ranges::find_if(
      words, [&](const std::string& word) { return word.starts_with('-') == flags; });
  return found == words.end() ? "" : *found;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Omits the flag's value, which may be secret.
std::string unknown_flag(const std::string& word, const CLI::App& app) {
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("there is no flag {}{}", name, did_you_mean(name, flag_names(app)));
}

// An unexpected word, as in `berth plan layout.yaml`.
std::string unexpected_word(const std::string& word, const CLI::App& command) {
  const CLI::Option* file = command.get_option_no_throw("--filename");
  return fmt::format("{} is not expected here{}", word,
                     file == nullptr ? "" : fmt::format("; did you mean -f {}?", word));
}

}  // namespace

// One command during parsing: its flags, and the storage for CLI11's texts.
class CommandLine::Command {
 public:
  Command(CLI::App& app, const CommandText& text, FlagTable table, std::function<int()> run)
      : app_(app.add_subcommand(text.name, text.summary)),
        examples_(text.examples),
        table_(std::move(table)),
        run_(std::move(run)) {
    for (const Flag& flag : table_) add(flag);
    if (!examples_.empty()) app_->footer("Examples:\n" + indented(examples_));
  }

  const CLI::App& app() const { return *app_; }
  const std::string& examples() const { return examples_; }

  int run() {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (options_[i]->count() == 0) continue;
      const bool list = table_[i].kind == Flag::Kind::kList || table_[i].kind == Flag::Kind::kWords;
      for (const std::string& text : list ? lists_[i] : std::vector<std::string>{texts_[i]}) {
        const Result<void> set = table_[i].set(text);
        if (set.has_value()) continue;
        return complain("berth " + app_->get_name(), set.error());
      }
    }
    return run_();
  }

 private:
  static std::string indented(const std::string& lines) {
    std::string out = "  ";
    for (const char c : lines) out += c == '\n' ? "\n  " : std::string(1, c);
    return out;
  }

  void add(const Flag& flag) {
    std::string& text = texts_.emplace_back();
    std::vector<std::string>& list = lists_.emplace_back();
    const bool is_switch = flag.kind == Flag::Kind::kSwitch;
    switch (flag.kind) {
      case Flag::Kind::kSwitch:
        options_.push_back(app_->add_flag(flag.name, text, flag.help));
        break;
      case Flag::Kind::kList:
        options_.push_back(app_->add_option(flag.name, list, flag.help)->take_all());
        break;
      case Flag::Kind::kWords:
        options_.push_back(app_->add_option(flag.name, list, flag.help));
        break;
      case Flag::Kind::kValue:
      case Flag::Kind::kPositional:
        options_.push_back(app_->add_option(flag.name, text, flag.help));
        break;
    }
    CLI::Option& option = *options_.back();
    if (!is_switch && !flag.value.empty()) option.type_name(flag.value);
    if (!flag.group.empty()) option.group(flag.group);
    const std::string shown = flag.show ? flag.show() : std::string();
    // the default of a switch is off, so the help omits it
    if (!shown.empty() && !(is_switch && shown == "false")) option.default_str(shown);
  }

  CLI::App* app_;
  std::string examples_;
  FlagTable table_;
  std::function<int()> run_;
  std::deque<std::string> texts_;  // a deque, because CLI11 keeps references
  std::deque<std::vector<std::string>> lists_;
  std::vector<CLI::Option*> options_;
};

CommandLine::CommandLine(const std::string& program, const std::string& summary,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(summary, program)) {
  app_->require_subcommand(0, 1);  // berth reports a missing command with its own message
  app_->set_help_flag("-h,--help", "print this help, and exit");
  app_->set_version_flag("--version", version, "print the version, and exit");
  app_->footer(
      fmt::format("{} COMMAND --help describes a command's flags, with examples.", program));
}

CommandLine::~CommandLine() = default;

void CommandLine::add(const CommandText& text, FlagTable table, std::function<int()> run) {
  commands_.emplace_back(*app_, text, std::move(table), std::move(run));
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_->exit(error);  // help, or the version
    return complain_of_usage(error.what());
  }
  for (Command& command : commands_)
    if (command.app().parsed()) return command.run();
  put(app_->help());
  return kUsageError;
}

int CommandLine::complain_of_usage(const std::string& otherwise) const {
  const std::vector<CLI::App*> chosen = app_->get_subcommands();
  const CLI::App& app = chosen.empty() ? *app_ : *chosen.front();
  const std::vector<std::string> left = app.remaining();
  const std::string program = app_->get_name() + (chosen.empty() ? "" : " " + app.get_name());
  const std::string flag = first_of(left, true), word = first_of(left, false);
  std::string message = otherwise;
  if (chosen.empty() && !word.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(*app_)) names.push_back(command->get_name());
    message = fmt::format("there is no command {}{}", word, did_you_mean(word, names));
  } else if (!flag.empty() && flag == left.front()) {
    message = unknown_flag(flag, app);
  } else if (!word.empty()) {
    message = unexpected_word(word, app);
  }
  complain(fmt::format("{}: {}", program, message));
  complain(fmt::format("{} --help lists the commands and flags.", program));
  return kUsageError;
}

CommandTree CommandLine::tree() const {
  CommandTree root = describe(*app_, "");
  root.name = "berth";  // whatever the name of the executable
  for (const Command& command : commands_)
    root.commands.push_back(describe(command.app(), command.examples()));
  return root;
}

Result<std::string> CommandLine::help(const std::string& command) const {
  // CLI11's help() returns the text of the parsed subcommand, which is `help`.
  if (command.empty())
    return app_->get_formatter()->make_help(app_.get(), app_->get_name(),
                                            CLI::AppFormatMode::Normal);
  std::vector<std::string> names;
  for (const Command& known : commands_) {
    if (known.app().get_name() == command) return known.app().help(app_->get_name());
    names.push_back(known.app().get_name());
  }
  return invalid_spec(
      "COMMAND", fmt::format("there is no command {}{}", command, did_you_mean(command, names)));
}

}  // namespace berth
