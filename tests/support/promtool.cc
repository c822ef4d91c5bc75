// SPDX-License-Identifier: Apache-2.0
#include "tests/support/promtool.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace berth::test {
namespace {

std::string program() {
  const char* given = std::getenv("PROMTOOL");
  return given != nullptr && *given != '\0' ? given : "promtool";
}

// Both outputs, and "(exit N)" if it failed.
std::string run(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  const int code = pclose(pipe);
  if (code != 0) text += "(exit " + std::to_string(WEXITSTATUS(code)) + ")";
  return text;
}

}  // namespace

bool has_promtool() {
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true") return true;
  return run(program() + " --version > /dev/null").empty();
}

std::string lint_metrics(const std::string& text) {
  std::string name = (std::filesystem::temp_directory_path() / "berth-metrics-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) return "cannot write " + name;
  close(file);
  std::ofstream(name, std::ios::binary) << text;
  const std::string said = run(program() + " check metrics < " + name);
  std::filesystem::remove(name);
  return said;
}

}  // namespace berth::test
