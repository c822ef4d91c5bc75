// SPDX-License-Identifier: Apache-2.0
// The pages show berth's real output: the lines of a block are in the output in this order, and a
// line "…" stands for any number of other lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cmd/program.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kGap = "…";
const std::string kSource = source_dir() + "/";

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The part of a page's fenced block after the line with this beginning, up to the end of the fence.
Lines block_after(const std::string& page, const std::string& start) {
  const Lines lines = lines_of(read_file(kSource + page));
  const auto begins = [&](const std::string& line) { return line.starts_with(start); };
  const auto first = std::find_if(lines.begin(), lines.end(), begins);
  if (first == lines.end()) throw std::runtime_error(page + " has no line " + start);
  const auto end = std::find(first, lines.end(), "```");
  return {first + 1, end};
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The first line of the block that the output lacks at its place; empty: none.
std::string missing_line(const Lines& block, const Lines& output) {
  auto at = output.begin();
  bool gap = false;
  for (const std::string& line : block) {
    if (line.ends_with(kGap) && line.find_first_not_of(' ') == line.size() - kGap.size()) {
      gap = true;
      continue;
    }
    if (gap) at = std::find(at, output.end(), line);
    if (at == output.end() || *at != line) return line;
    ++at;
    gap = false;
  }
  return gap || at == output.end() ? "" : "(the output goes on) " + *at;
}

TEST(Documents, ALineThatIsNotPrintedIsFound) {
  const Lines output = {"a", "b", "c", "d"};
  EXPECT_EQ(missing_line({"a", "…", "c", "d"}, output), "");
  EXPECT_EQ(missing_line({"…", "d"}, output), "");
  EXPECT_EQ(missing_line({"a", "  …"}, output), "");
  EXPECT_EQ(missing_line({"a", "c", "d"}, output), "c") << "b is left out without a gap";
  EXPECT_EQ(missing_line({"…", "c", "b", "…"}, output), "b") << "in another order";
  EXPECT_EQ(missing_line({"b", "…"}, output), "b") << "it is not the first";
  EXPECT_EQ(missing_line({"a", "…", "c"}, output), "(the output goes on) d");
}

TEST(Documents, TheReadmesLayoutIsPlannedAsItShows) {
  const Ran ran = run_berth(
      {"plan", "-f", "-", "--snapshot", kSource + "tests/golden/plan/without-retire/cluster.json"},
      joined(block_after("README.md", "```yaml")));
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  const Lines block = block_after("README.md", "$ berth plan -f layout.yaml");
  EXPECT_GE(block.size(), 20U);
  EXPECT_EQ(missing_line(block, lines_of(ran.out)), "") << ran.out;
}

TEST(Documents, TheStoryIsToldAsThePagesShow) {
  const Ran ran = run_berth({"simulate", "-f", kSource + "examples/simulation/headline.yaml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::pair<const char*, const char*> places[] = {
      {"README.md", "$ ./quickstart "},
      {"docs/simulation.md", "$ berth simulate -f examples/simulation/headline.yaml | "},
  };
  for (const auto& [page, start] : places) {
    const Lines block = block_after(page, start);
    EXPECT_GE(block.size(), 5U) << page;
    EXPECT_EQ(missing_line(block, lines_of(ran.out)), "") << page << "\n" << ran.out;
  }
}

// Its page shows standard error after standard output, as a terminal may.
TEST(Documents, TheImportIsPrintedAsItsPageShows) {
  const Ran ran = run_berth({"import", "-f", kSource + "examples/import/kueue.yaml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::string printed = ran.out + ran.err;
  for (std::size_t at = printed.find(kSource); at != printed.npos; at = printed.find(kSource))
    printed.erase(at, kSource.size());
  const Lines block = block_after("docs/importing.md", "$ berth import -f examples/import/kueue");
  EXPECT_GE(block.size(), 20U);
  EXPECT_EQ(missing_line(block, lines_of(printed)), "") << printed;
}

TEST(Documents, TheQueuesAreToldAsThePagesShow) {
  const std::string goldens = kSource + "tests/golden/";
  const auto check = [](const std::string& page, const std::string& start, const std::string& out) {
    const Lines block = block_after(page, start);
    EXPECT_GE(block.size(), 7U) << page;
    EXPECT_EQ(missing_line(block, lines_of(out)), "") << page << "\n" << out;
  };
  const std::string urgent = goldens + "plan/queues-urgent-job/";
  check(
      "docs/queue-rules.md", "$ berth plan -f job.yaml",
      run_berth({"plan", "-f", urgent + "layout.yaml", "--snapshot", urgent + "cluster.json"}).out);
  const std::string imported = goldens + "plan/queues-imported/";
  check("docs/importing.md", "$ berth import --policy -f examples/import/kueue.yaml",
        run_berth({"plan", "-f", imported + "layout.yaml", "--snapshot", imported + "cluster.json"})
            .out);
  check("docs/why.md", "$ berth why job/eval-3",
        run_berth(
            {"why", "job/eval-3", "-n", "nlp", "--snapshot", goldens + "why/queues/cluster.json"})
            .out);
}

}  // namespace
}  // namespace berth::test
