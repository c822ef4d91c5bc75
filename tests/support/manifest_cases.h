// SPDX-License-Identifier: Apache-2.0
// Reads tests/data/bad_manifests.yaml and good_manifests.yaml: one manifest per document, each
// preceded by "# key: value" lines. The text is kept as written, because the tests are about
// reading YAML.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/places.h"

namespace berth::test {

struct ManifestCase {
  std::map<std::string, std::string> says;  // case, field, says, server
  std::string text;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in.good()) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<ManifestCase> read_manifest_cases(const std::string& file) {
  std::vector<ManifestCase> cases;
  std::istringstream in(read_file(std::filesystem::path(source_dir()) / "tests/data" / file));
  for (std::string line; std::getline(in, line);) {
    if (line == "---") {
      cases.emplace_back();
    } else if (!cases.empty()) {
      auto colon = line.find(": ");
      if (line.starts_with("# ") && colon != std::string::npos) {
        cases.back().says[line.substr(2, colon - 2)] = line.substr(colon + 2);
      }
      cases.back().text += line + "\n";
    }
  }
  return cases;
}

}  // namespace berth::test
