// SPDX-License-Identifier: Apache-2.0
// docs/reasons.md has the code's facts about every reason, and no other reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "apis/base/reasons.h"
#include "controller/admission/reconcile_bypass.h"
#include "controller/core/refused_write.h"
#include "controller/policy/policy_reasons.h"
#include "controller/queue/status/queue_conditions.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using Cells = std::vector<std::string>;

// The rows of the tables under the heading with this beginning.
std::vector<Cells> rows_under(const std::string& heading) {
  std::ifstream page(source_dir() + "/docs/reasons.md");
  std::vector<Cells> rows;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line.starts_with("## " + heading);
    if (!here || !line.starts_with("| ") || line.starts_with("| reason") ||
        line.starts_with("| object") || line.starts_with("| condition"))
      continue;
    Cells cells;
    std::istringstream text(line.substr(2));
    for (std::string cell; std::getline(text, cell, '|');)
      cells.push_back(cell.substr(cell.starts_with(' ') ? 1 : 0,
                                  cell.find_last_not_of(' ') + (cell.starts_with(' ') ? 0 : 1)));
    rows.push_back(std::move(cells));
  }
  EXPECT_FALSE(rows.empty()) << heading;
  return rows;
}

// Splits "`A`, `B`" and "A, B".
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream text(cell);
  for (std::string name; text >> name;) {
    std::erase_if(name, [](char c) { return c == '`' || c == ','; });
    names.push_back(name);
  }
  return names;
}

std::string word_for(Outlook outlook) {
  switch (outlook) {
    case Outlook::kReady:
      return "Ready";
    case Outlook::kReconciling:
      return "Reconciling";
    case Outlook::kStalled:
      return "Stalled";
    case Outlook::kSuspended:
      return "neither";
  }
  return "?";
}

// "Held Reconciling", from the page and from the code.
std::set<std::string> told_under(const std::string& heading) {
  std::set<std::string> told;
  for (const Cells& row : rows_under(heading))
    for (const std::string& reason : names_in(row.at(0))) told.insert(reason + " " + row.at(1));
  return told;
}
std::set<std::string> in_code(Column column) {
  std::set<std::string> rows;
  for (const LayoutReason& row : layout_reasons())
    if (row.column == column) rows.insert(std::string(row.reason) + " " + word_for(row.outlook));
  return rows;
}

TEST(ReasonsPage, SaysWhichConditionEachReasonOfALayoutComesTo) {
  EXPECT_EQ(told_under("A node waits, and the layout's owner"), in_code(Column::kBlocked));
  EXPECT_EQ(told_under("A node waits, and time or its turn"), in_code(Column::kPending));
  EXPECT_EQ(told_under("The layout as a whole"), in_code(Column::kNone));
}

TEST(ReasonsPage, TellsOfEveryReasonOfANodeOnItsWay) {
  std::set<std::string> told;
  for (const Cells& row : rows_under("A node is in progress"))
    for (const std::string& reason : names_in(row.at(0))) told.insert(reason);
  for (const LayoutReason& row : layout_reasons()) {
    if (row.column != Column::kUnderWay) continue;
    EXPECT_TRUE(told.contains(std::string(row.reason))) << row.reason;
  }
}

TEST(ReasonsPage, SaysWhichConditionEachReasonOfThePolicyComesTo) {
  std::set<std::string> rows;
  for (const PolicyReason& row : policy_reasons())
    rows.insert(std::string(row.reason) + " " + word_for(row.outlook));
  EXPECT_EQ(told_under("GPUClusterPolicy"), rows);
}

const std::set<std::string> kOfMetricsMissing = {
    reasons::kMetricsUnreachable, reasons::kMetricsUnreadable, reasons::kMetricsRefused,
    reasons::kExporterMissing,    reasons::kSeriesMissing,     reasons::kSeriesImplausible,
    reasons::kPodsNotNamed};

TEST(ReasonsPage, TellsWhyGpusAreNotMeasured) {
  std::set<std::string> told;
  for (const Cells& row : rows_under("GPUs are not measured"))
    for (const std::string& reason : names_in(row.at(0))) told.insert(reason);
  EXPECT_EQ(told, kOfMetricsMissing);
}

const std::set<std::string> kOfHearsay = {reasons::kForeignSeries, reasons::kExporterDisagrees,
                                          reasons::kExporterSilent};

TEST(ReasonsPage, TellsWhichMeasurementsDoNotCount) {
  std::set<std::string> told;
  for (const Cells& row : rows_under("Measurements that do not count"))
    for (const std::string& reason : names_in(row.at(0))) told.insert(reason);
  EXPECT_EQ(told, kOfHearsay);
}

TEST(ReasonsPage, SaysWhichConditionEachReasonOfAQueueComesTo) {
  std::set<std::string> rows;
  for (const queue::QueueReason& row : queue::queue_reasons())
    rows.insert(std::string(row.reason) + " " + word_for(row.outlook));
  EXPECT_EQ(told_under("GPUQueue"), rows);
}

TEST(ReasonsPage, TellsOfEveryConditionBesideAQueuesOwn) {
  std::set<std::string> told, known;
  for (const Cells& row : rows_under("More conditions of a GPUQueue"))
    for (const std::string& type : names_in(row.at(0)))
      for (const std::string& reason : names_in(row.at(1))) told.insert(type + " " + reason);
  for (const queue::QueueConcern& row : queue::queue_concerns())
    known.insert(std::string(row.type) + " " + std::string(row.reason));
  EXPECT_EQ(told, known);
}

TEST(ReasonsPage, TellsOfEveryEventAndOfNoOther) {
  std::set<std::string> told;
  for (const Cells& row : rows_under("Events"))
    if (row.at(1) != "`WriteRefused`")
      for (const std::string& kind : names_in(row.at(0)))
        for (const std::string& reason : names_in(row.at(1))) told.insert(kind + " " + reason);
  std::set<std::string> known = {std::string("GPUQueue ") + reasons::kRecordNewer,
                                 std::string("Pod ") + reasons::kSlippedPastAdmission,
                                 std::string("Pod ") + reasons::kGpusIdle,
                                 std::string("Owner ") + reasons::kGpusIdle,
                                 std::string("Job ") + reasons::kGpusReclaimed,
                                 std::string("Pod ") + reasons::kGpusReclaimed,
                                 std::string("Pod ") + reasons::kGpusKept,
                                 std::string("Job ") + reasons::kPreempted,
                                 std::string("Pod ") + reasons::kPreempted,
                                 std::string("Pod ") + reasons::kGangTakenBack,
                                 std::string("Pod ") + reasons::kGangStays,
                                 std::string("Pod ") + reasons::kPodKept,
                                 std::string("Job ") + reasons::kPodsOnDeadNode,
                                 std::string("Pod ") + reasons::kPodsOnDeadNode,
                                 std::string("Pod ") + reasons::kForceDeleted,
                                 std::string("Job ") + reasons::kQueueNotFound,
                                 std::string("Pod ") + reasons::kQueueNotFound,
                                 std::string("ResourceQuota ") + reasons::kNamespaceQuotaCorrected};
  for (const auto& rows : {rollout_event_reasons(), policy_event_reasons()})
    for (const EventReason& row : rows)
      known.insert(std::string(row.kind) + " " + std::string(row.reason));
  EXPECT_EQ(told, known);
}

// Every constant has its row; otherwise it would mean Reconciling by default.
TEST(ReasonsPage, NoConstantIsLeftOutOfTheTables) {
  std::set<std::string> known = {
      reasons::kSlippedPastAdmission,
      reasons::kWriteRefused,
      reasons::kNamespaceQuotaCorrected,
      reasons::kPreempted,
      reasons::kGangTakenBack,
      reasons::kGangStays,
      reasons::kForceDeleted,
      reasons::kGpusIdle,
      reasons::kGpusReclaimed,
      reasons::kGpusKept,
      reasons::kClockSkewed,
      reasons::kTooManyUnhealthy};  // in conditions that kstatus does not read
  known.insert(kOfMetricsMissing.begin(), kOfMetricsMissing.end());
  known.insert(kOfHearsay.begin(), kOfHearsay.end());
  for (const LayoutReason& row : layout_reasons()) known.emplace(row.reason);
  for (const PolicyReason& row : policy_reasons()) known.emplace(row.reason);
  for (const queue::QueueReason& row : queue::queue_reasons()) known.emplace(row.reason);
  for (const queue::QueueConcern& row : queue::queue_concerns()) known.emplace(row.reason);
  for (const Cells& row : rows_under("A workload waits in a GPUQueue"))
    known.insert(names_in(row.at(0)).front());
  known.insert(reasons::kAdmissible);
  for (const auto& rows : {rollout_event_reasons(), policy_event_reasons()})
    for (const EventReason& row : rows) known.emplace(row.reason);
  std::ifstream file(source_dir() + "/apis/base/reasons.h");
  std::map<std::string, int> constants;  // by section: "// -- MIGLayout --"
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("// -- ")) section = line;
    const std::size_t from = line.find("[] = \"");
    if (from == line.npos) continue;
    ++constants[section];
    if (section != "// -- MIGLayout --" && section != "// -- GPUClusterPolicy --" &&
        section != "// -- GPUQueue --")
      continue;
    const std::string reason = line.substr(from + 6, line.rfind('"') - from - 6);
    EXPECT_TRUE(known.contains(reason)) << reason;
  }
  EXPECT_GT(constants["// -- MIGLayout --"], 10);
  EXPECT_GT(constants["// -- GPUClusterPolicy --"], 10);
  EXPECT_GT(constants["// -- GPUQueue --"], 10);
}

}  // namespace
}  // namespace berth::test
