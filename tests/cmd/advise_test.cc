// SPDX-License-Identifier: Apache-2.0
// `berth advise` as a program: its advice, and its messages about wrong flags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::HasSubstr;

TEST(Advise, TellsWhatThePageShows) {
  std::ifstream file(source_dir() + "/docs/advise.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Ran large =
      run_berth({"advise", "--model", "70B", "--precision", "fp16", "--gpu", "A100-80GB"});
  EXPECT_EQ(large.exit_code, 0) << large.err;
  EXPECT_THAT(page, HasSubstr("--model 70B --precision fp16 --gpu A100-80GB\n" + large.out));
  const Ran small = run_berth(
      {"advise", "--model", "8B", "--precision", "fp8", "--sequences", "8", "--gpu", "a100-80gb"});
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(page, HasSubstr("--sequences 8 --gpu A100-80GB\n" + small.out));
}

TEST(Advise, HasARowForEachProductWithoutOne) {
  const Ran ran = run_berth({"advise", "--model", "405B", "-o", "json"});
  const nlohmann::json rows = nlohmann::json::parse(ran.out).at("items");
  EXPECT_GT(rows.size(), 10u);
  for (const nlohmann::json& row : rows) {
    const std::string gpu = row.at("gpu");
    const char* count = gpu == "A30" ? "" : gpu == "B300" ? "4" : nullptr;  // eight have 173 GiB
    if (count != nullptr) {
      EXPECT_EQ(row.at("count"), count) << row.dump();
    }
  }
}

// A node, a pod with one of its GPUs, and a day with 15 % utilization.
nlohmann::json chat_on_a_node() {
  nlohmann::json dump = nlohmann::json::parse(R"json({
    "apiVersion": "snapshot.gpu.berth.dev/v1", "kind": "Snapshot",
    "takenAt": "2026-11-25T12:00:00Z", "items": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "u1", "labels": {
       "nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
       "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "81920",
       "nvidia.com/gpu.replicas": "1", "nvidia.com/mig.strategy": "mixed"}},
     "status": {"allocatable": {"nvidia.com/gpu": "4"},
                "conditions": [{"type": "Ready", "status": "True"}]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "chat-0", "namespace": "web",
       "uid": "u2", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet",
                                         "name": "chat", "uid": "u3", "controller": true}]},
     "spec": {"nodeName": "n1",
              "containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]},
     "status": {"phase": "Running"}}]})json");
  dump["items"].push_back({{"apiVersion", "gpu.berth.dev/v1alpha1"},
                           {"kind", "GPUClusterPolicy"},
                           {"metadata", {{"name", "cluster"}, {"uid", "u4"}}},
                           {"spec",
                            {{"pools",
                              {{{"name", "all"},
                                {"nodeSelector", nlohmann::json::object()},
                                {"price", {{"perGPUHour", "1"}, {"currency", "USD"}}}}}}}}});
  // 86,400 s at 1,000,000 millionths an hour.
  const std::string day =
      R"({"USD": {"owners": {"web/StatefulSet/chat": [12960000000, 73440000000, 0, 0, 0, 0]}}})";
  dump["items"].push_back(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", {{"name", "berth-costs"}, {"namespace", "berth-system"}, {"uid", "u5"}}},
       {"data", {{"checkpoint", "2026-11-25T12:00:00Z"}, {"day-2026-11-24", day}}}});
  return dump;
}

TEST(Advise, OfOwnersReadsASnapshot) {
  nlohmann::json dump = chat_on_a_node();
  const std::string file = scratch_file("advise.json", dump.dump());
  const Ran ran = run_berth({"advise", "--snapshot", file});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "OWNER                 PODS  EACH              USED  PEAK  MEMORY  ADVICE"
            "                                      SAVES/MONTH  CURRENCY\n"
            "web/StatefulSet/chat  1     1 nvidia.com/gpu  15%   -     -       "
            "1 nvidia.com/mig-3g.40gb, if 40 GB suffice  365.00       USD\n");
  std::string& day = dump["items"].back()["data"]["day-2026-11-24"].get_ref<std::string&>();
  nlohmann::json measured = nlohmann::json::parse(day);
  measured["USD"]["memory"] = {{"web/StatefulSet/chat", 32'000}};
  measured["USD"]["peaks"] = {{"web/StatefulSet/chat", 90}};
  day = measured.dump();
  const Ran known = run_berth({"advise", "--snapshot", scratch_file("known.json", dump.dump())});
  EXPECT_THAT(known.out,
              HasSubstr(" 15%   90%   31.2GiB  1 nvidia.com/mig-3g.40gb, if bursts to 90% may "
                        "take longer  365.00 "));
  dump["items"].erase(2);
  const Ran without = run_berth({"advise", "--snapshot", scratch_file("none.json", dump.dump())});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err, HasSubstr("there is no GPUClusterPolicy"));
}

TEST(Advise, WritesLayoutsThatCanBePlanned) {
  const std::string file = scratch_file("advise.json", chat_on_a_node().dump());
  const Ran ran = run_berth({"advise", "--snapshot", file, "--layouts"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("web/StatefulSet/chat: nvidia.com/mig-3g.40gb: 1 instead of "
                                 "nvidia.com/gpu: 1, if 40 GB suffice"));
  EXPECT_THAT(ran.out, HasSubstr("spec.pools[name=all].migStrategy: mixed"));
  const Ran valid = run_berth({"validate", "-f", scratch_file("layouts.yaml", ran.out)});
  EXPECT_EQ(valid.exit_code, 0) << valid.out << valid.err;
  const Ran none = run_berth({"advise", "--model", "7B", "--layouts"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("--layouts: is about owners of pods, not about --model"));
}

// Two nodes of four GPUs without MIG, and eight pods of one owner with 5 % utilization.
nlohmann::json notes_on_two_nodes() {
  nlohmann::json dump = chat_on_a_node();
  nlohmann::json node = dump["items"][0], pod = dump["items"][1];
  const nlohmann::json policy = dump["items"][2], costs = dump["items"][3];
  dump["items"] = nlohmann::json::array({policy, costs});
  for (const std::string name : {"n1", "n2"}) {
    node["metadata"]["name"] = name;
    node["metadata"]["uid"] = "uid-" + name;
    nlohmann::json& labels = node["metadata"]["labels"];
    labels["kubernetes.io/hostname"] = name;
    labels["nvidia.com/gpu.product"] = "NVIDIA-L4";
    labels["nvidia.com/gpu.memory"] = "23040";
    dump["items"].push_back(node);
    for (int i = 0; i < 4; ++i) {
      pod["metadata"]["name"] = name + "-" + std::to_string(i);
      pod["metadata"]["uid"] = pod["metadata"]["name"];
      pod["spec"]["nodeName"] = name;
      dump["items"].push_back(pod);
    }
  }
  dump["items"][0]["spec"]["idle"] = {{"policy", "Notify"}};
  dump["items"][1]["data"]["day-2026-11-24"] =
      R"({"USD": {"owners": {"web/StatefulSet/chat": [34560000000, 656640000000, 0, 0, 0, 0]}}})";
  return dump;
}

TEST(Advise, WritesAPolicyWithASharedPoolOnlyWhenAsked) {
  const std::string file = scratch_file("notes.json", notes_on_two_nodes().dump());
  const Ran kept = run_berth({"advise", "--snapshot", file, "--layouts"});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(kept.out, testing::Not(HasSubstr("GPUClusterPolicy")));
  const Ran table = run_berth({"advise", "--snapshot", file, "--sharing"});
  EXPECT_THAT(table.out, HasSubstr("1 nvidia.com/gpu.shared of pool all-shared-by-8, TimeSlicing "
                                   "by 8, which is to be made: its memory and faults are then not "
                                   "kept apart, if 2 GB suffice"));

  const Ran ran = run_berth({"advise", "--snapshot", file, "--sharing", "--layouts"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("web/StatefulSet/chat: nvidia.com/gpu.shared: 1 instead of "
                                 "nvidia.com/gpu: 1"));
  EXPECT_THAT(ran.out, HasSubstr("spec.pools[name=all-shared-by-8]: 1 node of pool all"));
  EXPECT_THAT(ran.out, HasSubstr("policy: Notify")) << "what stands there is not lost";
  const std::string advised = scratch_file("advised.yaml", ran.out);
  const Ran valid = run_berth({"validate", "-f", advised});
  EXPECT_EQ(valid.exit_code, 0) << valid.out << valid.err;
  const Ran planned = run_berth({"plan", "-f", advised, "--snapshot", file});
  EXPECT_EQ(planned.exit_code, 2) << planned.err << "there are changes";
  EXPECT_THAT(planned.out, HasSubstr("all-shared-by-8"));
}

TEST(Advise, SaysWhatIsWrong) {
  const auto said = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "advise");
    const Ran ran = run_berth(flags);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    return ran.err;
  };
  EXPECT_THAT(said({"--snapshot", golden("../why/pods/none.json")}), HasSubstr("No such file"));
  EXPECT_THAT(said({"--model", "big"}), HasSubstr("write it as 70B or 350M"));
  EXPECT_THAT(said({"--model", "7B", "--tokens", "0"}), HasSubstr("--tokens: must be 1 to"));
  EXPECT_THAT(said({"--model", "7B", "--sequences", "-1"}), HasSubstr("--sequences: must be 1 to"));
  EXPECT_THAT(said({"--model", "7B", "--gpu", "T4"}), HasSubstr("is T4; berth knows A30"));
}

}  // namespace
}  // namespace berth::test
