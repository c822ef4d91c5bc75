// SPDX-License-Identifier: Apache-2.0
#include "tests/cmd/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;

fs::path scratch() {
  static const fs::path folder = [] {
    std::string path = (fs::temp_directory_path() / "berth-cmd-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no scratch folder");
    return fs::path(path);
  }();
  return folder;
}

// In the child: opens the file as descriptor `number`.
void redirect(const fs::path& path, int flags, int number) {
  const int fd = open(path.c_str(), flags, 0600);
  if (fd < 0 || dup2(fd, number) < 0) _exit(126);
}

}  // namespace

std::string golden(const std::string& path) { return source_dir() + "/tests/golden/plan/" + path; }

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string scratch_file(const std::string& name, const std::string& text) {
  const fs::path path = scratch() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

Ran run_berth(std::vector<std::string> arguments, const std::string& input) {
  return run_berth_on(scratch_file("stdin", input), std::move(arguments));
}

Ran run_berth_on(const std::string& input_path, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), binary_dir() + "/berth");
  return run_program(std::move(arguments), input_path);
}

Ran run_program(std::vector<std::string> arguments, const std::string& input_path) {
  const fs::path out = scratch() / "stdout", err = scratch() / "stderr";
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    redirect(input_path, O_RDONLY, STDIN_FILENO);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    setenv("HOME", scratch().c_str(), 1);
    setenv("PATH", (binary_dir() + ":/usr/local/bin:/usr/bin:/bin").c_str(), 1);
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    throw std::runtime_error("cannot run " + arguments.front());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out),
          text_of(err)};
}

}  // namespace berth::test
