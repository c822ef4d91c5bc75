// SPDX-License-Identifier: Apache-2.0
// What `berth report` packs: the archive, other names, what is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "controller/report/anonymizer.h"
#include "controller/report/report_file.h"
#include "controller/report/report_objects.h"

namespace berth {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string run(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

TEST(ReportArchive, IsReadByTar) {
  const std::string deep = "berth-report/logs/" + std::string(90, 'p') + "/" + std::string(80, 'c');
  const std::string file =
      (std::filesystem::temp_directory_path() / ("report-" + std::to_string(getpid()))).string();
  std::ofstream(file, std::ios::binary) << pack_report({{"berth-report/a.txt", "hello\n"},
                                                        {"berth-report/empty", ""},
                                                        {deep, std::string(513, 'x')}},
                                                       parse_time("2026-11-27T02:13:05Z").value());
  EXPECT_EQ(run("tar -tzf " + file), "berth-report/a.txt\nberth-report/empty\n" + deep + "\n");
  EXPECT_EQ(run("tar -xzOf " + file + " berth-report/a.txt"), "hello\n");
  EXPECT_EQ(run("tar -xzOf " + file + " " + deep), std::string(513, 'x'));
  EXPECT_THAT(run("TZ=UTC tar -tvzf " + file), HasSubstr("2026-11-27 02:13"));
  std::filesystem::remove(file);
}

Anonymizer of_a_cluster() {
  Anonymizer names({"berth-system", "gpu-operator"});
  names.learn(json::parse(R"({"items": [
    {"kind": "Node", "metadata": {"name": "gpu-7.example.com"}},
    {"kind": "Namespace", "metadata": {"name": "team-a"}},
    {"kind": "Namespace", "metadata": {"name": "gpu-operator"}},
    {"kind": "Job", "metadata": {"name": "train", "namespace": "team-a"}},
    {"kind": "Pod", "metadata": {"name": "mig-manager-x", "namespace": "gpu-operator"}},
    {"kind": "ConfigMap", "metadata": {"name": "berth-usage", "namespace": "berth-system"}},
    {"kind": "Namespace"}, 7]})"));
  return names;
}

TEST(Anonymizer, GivesTheSameOtherNameEverywhere) {
  const Anonymizer names = of_a_cluster();
  EXPECT_EQ(
      names.apply("Job/team-a/train waits; gpu-7.example.com: pod team-a/train-x7k2p, \"train\""),
      "Job/namespace-1/job-1 waits; node-1: pod namespace-1/job-1-x7k2p, \"job-1\"");
  EXPECT_EQ(names.apply("gpu-operator mig-manager-x berth-usage training kube-system default"),
            "gpu-operator mig-manager-x berth-usage training kube-system default");
  EXPECT_EQ(names.apply("berth-team-a-38d27e2c x-train trainer gpu-7.example.com.17ab"),
            "berth-namespace-1-38d27e2c x-job-1 trainer node-1.17ab");
}

TEST(Anonymizer, LeavesADocumentsKeysAndKinds) {
  Anonymizer names({});
  names.learn(json::parse(R"({"items": [{"kind": "Namespace", "metadata": {"name": "status"}},
                                        {"kind": "Node", "metadata": {"name": "n1"}},
                                        {"kind": "Namespace", "metadata": {"name": "Pod"}}]})"));
  const json out = json::parse(names.apply_json(
      R"({"kind": "Pod", "status": {"a": ["status", 3]}, "data": {"n1": "{\"n1\":1}"}})"));
  EXPECT_EQ(out, json::parse(R"({"kind": "Pod", "status": {"a": ["namespace-1", 3]},
                                 "data": {"node-1": "{\"node-1\":1}"}})"));
  EXPECT_EQ(names.apply_json("no json n1"), "no json node-1");
}

TEST(ReportObjects, HoldNoEnvironmentAndNoSecret) {
  const std::string text = trimmed_list(R"({"items": [
    {"kind": "Pod", "metadata": {"name": "a", "managedFields": [{"x": "m1"}],
       "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "l1", "b": "c"}},
     "spec": {"containers": [{"name": "c", "args": ["--x"], "env": [{"name": "P", "value": "e1"}],
                              "envFrom": [{"secretRef": {"name": "e2"}}]}]}},
    {"kind": "Secret", "data": {"k": "s1"}, "stringData": {"k": "s2"}}]})")
                               .value();
  EXPECT_THAT(text, AllOf(HasSubstr("--x"), HasSubstr("\"b\"")));
  for (const char* gone : {"m1", "l1", "e1", "e2", "s1", "s2"})
    EXPECT_THAT(text, Not(HasSubstr(gone)));
  EXPECT_FALSE(trimmed_list("[]"));
  EXPECT_FALSE(trimmed_list("<html>"));
}

TEST(ReportObjects, NameTheContainersWhoseLogsThereAre) {
  const auto found = containers_in(R"({"items": [
    {"metadata": {"name": "berth-0"}, "status": {"containerStatuses": [
       {"name": "controller", "restartCount": 2}]}},
    {"metadata": {"name": "berth-1"}, "status": {"containerStatuses": [{"name": "controller"}]}},
    {"metadata": {"name": "berth-2"}}, {"status": 3}]})")
                         .value();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pod + "/" + found[0].container, "berth-0/controller");
  EXPECT_TRUE(found[0].has_restarted);
  EXPECT_FALSE(found[1].has_restarted);
}

}  // namespace
}  // namespace berth
