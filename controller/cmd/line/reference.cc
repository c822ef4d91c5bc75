// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {
namespace {

constexpr char kAsPlugin[] =
    "kubectl runs a program named kubectl-berth on the PATH as a command of its own: a copy of "
    "berth "
    "by that name, or a link to it, makes kubectl berth plan of berth plan.";
constexpr char kExitCodes[] =
    "0: done, and nothing stands in the way; for plan: there is nothing to do. 1: an error, a "
    "manifest with faults, or something that does not end as expected. 2, of plan alone: there "
    "are changes to make.";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Headings in the order of their first option, as in the help.
std::vector<std::string> groups_of(const CommandTree& command) {
  std::vector<std::string> groups;
  for (const CommandOption& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::string shown_default(const CommandOption& option) {
  if (option.default_value.empty()) return "";
  return fmt::format(" (default: {})", option.default_value);
}

// A backslash always starts a request, a dot or a quote only at the start of a line. A line may
// break at a hyphen.
std::string roff(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  text = replaced(replaced(std::move(text), "\n.", "\n\\&."), "\n'", "\n\\&'");
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

std::string roff_option(const CommandOption& option) {
  std::string text =
      fmt::format(".TP\n\\fB{}\\fR", roff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.value.empty() && !option.positional)
    text += fmt::format(" \\fI{}\\fR", roff(option.value));
  return text + "\n" + roff(option.help + shown_default(option)) + "\n";
}

std::string roff_command(const CommandTree& command, const std::string& program) {
  std::string text =
      fmt::format(".SS {}\n{}\n", roff(program + " " + command.name), roff(command.summary));
  for (const std::string& group : groups_of(command)) {
    if (group != "Options" && group != "Positionals")
      text += fmt::format(".PP\n\\fI{}\\fR\n", roff(group));
    for (const CommandOption& option : command.options)
      if (option.group == group) text += roff_option(option);
  }
  if (!command.examples.empty())
    text += fmt::format(".PP\nExamples:\n.PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", roff(command.examples));
  return text;
}

// For a table cell.
std::string cell(const std::string& text) { return replaced(text, "|", "\\|"); }

std::string markdown_row(const CommandOption& option) {
  std::string name;
  for (const std::string& one : option.names)
    name += fmt::format("{}`{}`", name.empty() ? "" : ", ", one);
  if (!option.value.empty() && !option.positional) name += fmt::format(" {}", option.value);
  const std::string value =
      option.default_value.empty() ? "" : fmt::format("`{}`", option.default_value);
  return fmt::format("| {} | {} | {} |\n", cell(name), cell(value), cell(option.help));
}

std::string markdown_command(const CommandTree& command, const std::string& program) {
  std::string text = fmt::format("\n## {} {}\n\n{}\n", program, command.name, command.summary);
  if (!command.examples.empty()) text += fmt::format("\n```sh\n{}\n```\n", command.examples);
  for (const std::string& group : groups_of(command)) {
    if (group != "Options" && group != "Positionals") text += fmt::format("\n{}:\n", group);
    text += "\n| flag | default | meaning |\n|---|---|---|\n";
    for (const CommandOption& option : command.options)
      if (option.group == group) text += markdown_row(option);
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandTree& tree, const std::string& version,
                        const std::string& date) {
  const std::string& name = tree.name;
  std::string text = fmt::format(".TH {} 1 \"{}\" \"{} {}\" \"User Commands\"\n", name, roff(date),
                                 name, roff(version));
  text += fmt::format(".SH NAME\n{} \\- {}\n", name, roff(tree.summary));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR \\fICOMMAND\\fR [\\fIflags\\fR]\n", name);
  text += ".SH OPTIONS\n";
  for (const CommandOption& option : tree.options) text += roff_option(option);
  text += ".SH COMMANDS\n";
  for (const CommandTree& command : tree.commands) text += roff_command(command, name);
  text += fmt::format(".SH \"EXIT STATUS\"\n{}\n", roff(kExitCodes));
  text += fmt::format(".SH \"AS A PLUGIN OF KUBECTL\"\n{}\n", roff(kAsPlugin));
  return text;
}

std::string markdown_reference(const CommandTree& tree) {
  std::string text = fmt::format("# {}: commands and flags\n\n", tree.name);
  text += fmt::format(
      "`{0} help -o markdown` wrote this page, `{0} help -o man | man -l -` shows it as a manual "
      "page, "
      "and\n`source <({0} completion bash)` completes what stands here (zsh, fish: `{0} completion "
      "--help`).\n",
      tree.name);
  text += fmt::format("\n{}\n\n{}\n\n", kAsPlugin, "Exit codes: " + std::string(kExitCodes));
  text += "| command | |\n|---|---|\n";
  for (const CommandTree& command : tree.commands)
    text += fmt::format("| [`{0} {1}`](#{0}-{1}) | {2} |\n", tree.name, command.name,
                        cell(command.summary));
  for (const CommandTree& command : tree.commands) text += markdown_command(command, tree.name);
  return text;
}

}  // namespace berth
