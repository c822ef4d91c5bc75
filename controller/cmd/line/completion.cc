// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controller/cmd/line/console.h"

namespace berth {
namespace {

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

bool is_file(const CommandOption& option) { return option.value == "FILE"; }

// Words for this option; for `help` the commands.
std::vector<std::string> words_of(const CommandOption& option, const CommandTree& tree) {
  std::vector<std::string> words = choices(option);
  if (option.positional && option.value == "COMMAND")
    for (const CommandTree& command : tree.commands) words.push_back(command.name);
  return words;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// In single quotes, for all three shells.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// --- bash ---

// `plan:-f|plan:--filename) … ;;` for each option whose value is one of several words, or a file.
std::string bash_values(const CommandTree& command, const CommandTree& tree) {
  std::string cases;
  for (const CommandOption& option : command.options) {
    const std::vector<std::string> words = words_of(option, tree);
    if (option.positional || option.value.empty()) continue;
    std::string names;
    for (const std::string& name : option.names)
      names += fmt::format("{}{}:{}", names.empty() ? "" : "|", command.name, name);
    if (is_file(option))
      cases += fmt::format(
          "    {}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return "
          ";;\n",
          names);
    else
      cases +=
          fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\"); return ;;\n",
                      names, fmt::join(words, " "));
  }
  return cases;
}

std::string bash_words(const CommandTree& command, const CommandTree& tree) {
  std::vector<std::string> words;
  for (const CommandOption& option : command.options) {
    if (!option.positional) words.push_back(option.names.back());
    if (option.positional)
      for (std::string& word : words_of(option, tree)) words.push_back(std::move(word));
  }
  return fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\") ;;\n",
                     command.name, fmt::join(words, " "));
}

std::string bash_script(const CommandTree& tree) {
  std::string values, flags;
  std::vector<std::string> first;
  for (const CommandTree& command : tree.commands) {
    first.push_back(command.name);
    values += bash_values(command, tree);
    flags += bash_words(command, tree);
  }
  for (const CommandOption& option : tree.options) first.push_back(option.names.back());
  return fmt::format(R"(# Completion of {0} for bash: source <({0} completion bash)
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  # bash takes --output=json for three words
  if [[ $word == "=" ]]; then
    word=
  elif [[ $before == "=" ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
  if [[ $COMP_CWORD == 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W '{1}' -- "$word")
    return
  fi
  case ${{COMP_WORDS[1]}}:$before in
{2}  esac
  case ${{COMP_WORDS[1]}} in
{3}  esac
}}
complete -F _{0} {0}
)",
                     tree.name, fmt::join(first, " "), values, flags);
}

// --- zsh ---

// In _arguments, a colon ends a part, and brackets enclose the explanation.
std::string zsh_text(std::string text) {
  for (const char* special : {":", "[", "]"})
    text = replaced(std::move(text), special, std::string("\\") + special);
  return text;
}

std::string zsh_action(const CommandOption& option, const CommandTree& tree) {
  if (is_file(option)) return "_files";
  const std::vector<std::string> words = words_of(option, tree);
  return words.empty() ? " " : fmt::format("({})", fmt::join(words, " "));
}

std::string zsh_option(const CommandOption& option, const CommandTree& tree) {
  if (option.positional)
    return quoted(fmt::format("{}:{}:{}", option.repeatable ? "*" : "1",
                              zsh_text(option.names.front()), zsh_action(option, tree)));
  const std::string value = option.value.empty() ? ""
                                                 : fmt::format(":{}:{}", zsh_text(option.value),
                                                               zsh_action(option, tree));
  std::string specs;
  for (const std::string& name : option.names) {
    const std::string before =
        option.repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    const bool is_long = name.starts_with("--");
    specs += (specs.empty() ? "" : " ") + quoted(fmt::format("{}{}{}[{}]{}", before, name,
                                                             value.empty() ? ""
                                                             : is_long     ? "="
                                                                           : "+",
                                                             zsh_text(option.help), value));
  }
  return specs;
}

std::string zsh_script(const CommandTree& tree) {
  std::string commands, cases;
  for (const CommandTree& command : tree.commands) {
    commands += fmt::format("    {}\n", quoted(zsh_text(command.name) + ":" + command.summary));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const CommandOption& option : command.options)
      cases += " \\\n        " + zsh_option(option, tree);
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef {0}
# Completion of {0} for zsh: source <({0} completion zsh), or as _{0} in a folder of $fpath
_{0}() {{
  local -a commands
  commands=(
{1}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{2}  esac
}}
(( $+functions[compdef] )) && compdef _{0} {0}
)",
                     tree.name, commands, cases);
}

// --- fish ---

std::string fish_option(const CommandOption& option, const std::string& command,
                        const CommandTree& tree) {
  const std::string condition =
      fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", tree.name, command);
  const std::vector<std::string> words = words_of(option, tree);
  std::string line = condition;
  for (const std::string& name : option.names) {
    if (option.positional) break;
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.positional && words.empty()) return "";
  if (is_file(option))
    line += " -r -F";
  else if (!words.empty())
    line += fmt::format("{} -a '{}'", option.positional ? "" : " -x", fmt::join(words, " "));
  else if (!option.value.empty())
    line += " -x";
  // fish has two escapes inside single quotes: the backslash and the quote itself.
  return line + " -d '" + replaced(replaced(option.help, "\\", "\\\\"), "'", "\\'") + "'\n";
}

std::string fish_script(const CommandTree& tree) {
  std::string text = fmt::format(
      "# Completion of {0} for fish: {0} completion fish | source\ncomplete -c {0} -f\n",
      tree.name);
  for (const CommandTree& command : tree.commands)
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n", tree.name,
                        command.name, replaced(command.summary, "'", "\\'"));
  for (const CommandTree& command : tree.commands)
    for (const CommandOption& option : command.options)
      text += fish_option(option, command.name, tree);
  return text;
}

}  // namespace

FlagTable completion_flags(CompletionFlags& flags) {
  Flag shell = choice_flag("SHELL", flags.shell, shells(), "the shell that the script is for");
  shell.kind = Flag::Kind::kPositional;
  return {std::move(shell)};
}

int run_completion(const CompletionFlags& flags, const CommandTree& tree) {
  const Result<void> known = one_of("SHELL", flags.shell, shells());
  if (!known.has_value()) return complain("berth completion", known.error());
  put(flags.shell == "bash"  ? bash_script(tree)
      : flags.shell == "zsh" ? zsh_script(tree)
                             : fish_script(tree));
  return 0;
}

}  // namespace berth
