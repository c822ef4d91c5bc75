// SPDX-License-Identifier: Apache-2.0
// tests/golden/import/CASE: in/*.yaml in, objects.yaml and report.txt out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "controller/import/print.h"
#include "tests/import/imports.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kGoldens = fs::path(source_dir()) / "tests/golden/import";

void compare(const fs::path& path, const std::string& text) {
  if (std::getenv("BERTH_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << path << ": the target update-goldens rewrites it";
}

Imported import_case(const std::string& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kGoldens / name / "in"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Sources sources;
  for (const fs::path& file : files)
    for (Source& source : sources_of(read_file(file), file.filename().string()))
      sources.push_back(std::move(source));
  return import_objects(std::move(sources), kLabelDomain);
}

// As kubectl would read it.
std::vector<Json> read_back(const std::string& yaml) {
  const Manifest manifest = parse_manifest(yaml, "objects.yaml");
  for (const Finding& finding : manifest.findings) ADD_FAILURE() << format(finding);
  std::vector<Json> objects;
  for (const ManifestDocument& document : manifest.documents)
    objects.push_back(Json::parse(document.json));
  return objects;
}

std::vector<Json> as_json(const std::vector<ImportedObject>& objects) {
  std::vector<Json> out;
  for (const ImportedObject& object : objects) out.push_back(Json::parse(object.json));
  return out;
}

// The comment without its marks is the object.
std::string uncommented(const std::string& yaml) {
  std::string out;
  std::istringstream lines(yaml.substr(yaml.find("# ---")));
  for (std::string line; std::getline(lines, line) && line.starts_with("#");)
    out += line.substr(std::min<std::size_t>(line.size(), 2)) + "\n";
  return out;
}

class ImportGolden : public testing::TestWithParam<std::string> {};

TEST_P(ImportGolden, IsAsRecordedAndValid) {
  const Imported imported = import_case(GetParam());
  EXPECT_TRUE(imported.report.wrong.empty()) << format(imported.report.wrong.front());
  EXPECT_EQ(faults_in(imported), "");

  const std::string yaml = print_manifests(imported, PolicyAs::kComment);
  compare(kGoldens / GetParam() / "objects.yaml", yaml);
  std::string report;
  for (const std::string& line : print_report(imported)) report += line + "\n";
  compare(kGoldens / GetParam() / "report.txt", report);

  std::vector<Json> objects = as_json(imported.objects);
  EXPECT_EQ(read_back(yaml), objects);
  if (imported.policy.json.empty()) return;
  const Json policy = Json::parse(imported.policy.json);
  EXPECT_EQ(read_back(uncommented(yaml)), std::vector<Json>{policy});
  objects.insert(objects.begin(), policy);
  EXPECT_EQ(read_back(print_manifests(imported, PolicyAs::kObject)), objects);
  EXPECT_EQ(read_back(print_list(imported, PolicyAs::kObject)), objects);
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGoldens))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Golden, ImportGolden, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace berth::test
