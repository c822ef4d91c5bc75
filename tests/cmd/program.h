// SPDX-License-Identifier: Apache-2.0
// The built `berth`, run by a test as a user runs it.
#pragma once

#include <string>
#include <vector>

namespace berth::test {

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Without a shell, and without the kubeconfig of the user who runs the tests.
Ran run_berth(std::vector<std::string> arguments, const std::string& input = "");
// The same, with standard input from a file or a device.
Ran run_berth_on(const std::string& input_path, std::vector<std::string> arguments);
// Another program, which finds berth on its PATH.
Ran run_program(std::vector<std::string> arguments, const std::string& input_path = "/dev/null");

// The path of a file in tests/golden/plan, the text of a file, and a scratch file with this text.
std::string golden(const std::string& path);
std::string text_of(const std::string& path);
std::string scratch_file(const std::string& name, const std::string& text);

}  // namespace berth::test
