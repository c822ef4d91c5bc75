// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md names each metric with its type and labels. Nothing but the code decides whether
// it is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "tests/metrics/filled_metrics.h"
#include "tests/support/exposition.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// | `name` | type | `label` (values), `label` | meaning |
std::map<std::string, MetricFamily> documented() {
  std::map<std::string, MetricFamily> rows;
  const std::string text = read(fs::path(source_dir()) / "docs/metrics.md");
  const std::regex row(R"(\n\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \| ([^|]*)\|)");
  const std::regex quoted("`([a-z_]+)`");
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
    MetricFamily& family = rows[(*it)[1]];
    family.type = (*it)[2];
    const std::string labels = (*it)[3];
    for (std::sregex_iterator label(labels.begin(), labels.end(), quoted); label != end; ++label)
      family.labels.insert((*label)[1]);
  }
  return rows;
}

// Names in the code, whether or not the sample below makes berth say them.
std::set<std::string> written() {
  std::set<std::string> names;
  const std::regex literal(
      "\"((?:berth|workqueue|rest_client|leader_election|process)_[a-z0-9_]+)\"");
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(source_dir()) / "controller")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("metrics.cc") && !name.ends_with("figures.cc") &&
        !name.ends_with("measures.cc"))
      continue;
    const std::string text = read(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  return names;
}

TEST(MetricsReference, NamesWhatIsThereWithTypeAndLabels) {
  Metrics metrics("test", "abc1234");
  fill(metrics);
  const Exposition text(metrics.text());
  const auto rows = documented();
  EXPECT_GT(rows.size(), 30u);

  std::set<std::string> named;
  for (const auto& [name, row] : rows) {
    named.insert(name);
    const auto said = text.families().find(name);
    ASSERT_NE(said, text.families().end()) << "no metric is called " << name;
    EXPECT_EQ(row.type, said->second.type) << name;
    EXPECT_EQ(row.labels, said->second.labels) << name;
  }
  for (const std::string& name : written())
    EXPECT_TRUE(named.contains(name)) << "docs/metrics.md does not name " << name;
  for (const auto& [name, _] : text.families())
    EXPECT_TRUE(named.contains(name)) << "docs/metrics.md does not name " << name;
}

}  // namespace
}  // namespace berth::test
