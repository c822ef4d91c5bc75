// SPDX-License-Identifier: Apache-2.0
// Which fields of an object a dump keeps, exactly: the object as the API server wrote it, and the
// kept part.
#include "controller/dump/dump_fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::json;

struct TrimmedCase {
  const char* what;
  const char* kind;
  const char* object;
  const char* kept;
};

void expect_trimmed(const std::vector<TrimmedCase>& cases) {
  for (const TrimmedCase& c : cases)
    EXPECT_EQ(trimmed(Json::parse(c.object), c.kind), Json::parse(c.kept)) << c.what;
}

std::string env_of(const std::string& variables) {
  return R"({"spec":{"containers":[{"env":)" + variables + "}]}}";
}

TEST(DumpFields, AreWhatTheirPathsName) {
  expect_trimmed({
      {"two fields of each item of a list", "Node",
       R"({"status":{"conditions":[{"type":"Ready","status":"True","message":"m"},{"type":"X"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X"}]}})"},
      {"a list of nothing is one", "Node", R"({"status":{"conditions":[]}})",
       R"({"status":{"conditions":[]}})"},
      {"a last segment whole", "Node", R"({"spec":{"taints":[{"key":"a"}],"providerID":"p"}})",
       R"({"spec":{"taints":[{"key":"a"}]}})"},
      {"null says nothing", "Node", R"({"spec":null,"metadata":{"name":"n","labels":null}})",
       R"({"metadata":{"name":"n"}})"},
      {"of another type than expected: reading it back names it", "Node",
       R"({"spec":"odd","status":{"conditions":{"a":1}}})",
       R"({"spec":"odd","status":{"conditions":{"a":1}}})"},
      {"no object among the items", "Node", R"({"status":{"conditions":[7]}})",
       R"({"status":{"conditions":[{}]}})"},
      {"a DaemonSet's template has no shape", "DaemonSet",
       R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"},"priority":7}}}})",
       R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}})"},
      {"a kind that dumps don't hold", "Secret", R"({"data":{"a":"b"}})", "null"},
      {"no object", "Node", R"("odd")", "null"},
  });
}

TEST(DumpFields, OfAnnotationsAreBerthsOwnAndWhatItHeeds) {
  expect_trimmed({
      {"others", "Node",
       R"({"metadata":{"name":"n","annotations":{"gpu.berth.dev/hold":"x","mine":"y"}}})",
       R"({"metadata":{"name":"n","annotations":{"gpu.berth.dev/hold":"x"}}})"},
      {"none", "Node", R"({"spec":{"unschedulable":true}})", R"({"spec":{"unschedulable":true}})"},
      {"no map", "Node", R"({"metadata":{"name":"n","annotations":"odd"}})",
       R"({"metadata":{"name":"n"}})"},
      {"no metadata either", "Node", R"({"metadata":"odd"})", R"({"metadata":"odd"})"},
  });
}

TEST(DumpFields, OfVisibleDevicesIsThePlaceWhereTheyAreNamed) {
  const auto place = [](const std::string& variables) {
    const Json kept = trimmed(Json::parse(env_of(variables)), "Pod");
    return kept["spec"]["containers"][0].value("visibleDevices", -1);
  };
  EXPECT_EQ(place(R"([{"name":"A","value":"all"},
                      {"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}])"),
            1);
  for (const char* none : {"", "void", "none"})
    EXPECT_EQ(place(R"([{"name":"NVIDIA_VISIBLE_DEVICES","value":")" + std::string(none) + "\"}]"),
              -1)
        << none;
  EXPECT_EQ(place(R"([{"name":"NVIDIA_VISIBLE_DEVICES","value":"none"},
                      {"name":"NVIDIA_VISIBLE_DEVICES","value":"0"}])"),
            1)
      << "the first that shows any";
  EXPECT_EQ(place(R"([{"name":"NVIDIA_VISIBLE_DEVICES","valueFrom":{"fieldRef":{}}}])"), 0)
      << "nobody knows what will stand there";
  EXPECT_EQ(place(R"({"name":"NVIDIA_VISIBLE_DEVICES"})"), -1) << "no list";
  expect_trimmed({{"an init container's", "Pod",
                   R"({"spec":{"initContainers":[{},{"env":[
                       {"name":"NVIDIA_VISIBLE_DEVICES","value":"0"}]}]}})",
                   R"({"spec":{"initContainers":[{},{"visibleDevices":0}]}})"}});
}

TEST(DumpFields, OfTheCudaThatIsRequiredAreTheWords) {
  const auto words = [](const std::string& value) {
    const Json kept = trimmed(Json::parse(env_of(R"([{"name":"A","value":"SECRET"},
        {"name":"NVIDIA_REQUIRE_CUDA","value":")" +
                                                 value + "\"}]")),
                              "Pod");
    return kept["spec"]["containers"][0];
  };
  EXPECT_EQ(words("cuda>=12.4"), Json::parse(R"({"requireCuda":"cuda>=12.4"})"));
  EXPECT_EQ(words(""), Json::object());
  EXPECT_EQ(words(std::string(2000, 'x')), Json({{"requireCuda", std::string(1024, 'x')}}));
}

TEST(DumpFields, OfVolumesAndPortsIsThatTheyAreThere) {
  expect_trimmed({
      {"what binds to nodes, without what is in it; and memory, with its kind", "Pod",
       R"({"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"SECRET"}},
                              {"csi":null},{"secret":{"secretName":"SECRET"}},7,
                              {"emptyDir":{"medium":"Memory"}}]}})",
       R"({"spec":{"volumes":[{"persistentVolumeClaim":{}},{},{},{},
                              {"emptyDir":{"medium":"Memory"}}]}})"},
      {"no list", "Pod", R"({"spec":{"volumes":{"csi":{}},"containers":{"ports":1}}})",
       R"({"spec":{"volumes":{"csi":{}},"containers":{"ports":1}}})"},
      {"the host's ports", "Pod",
       R"({"spec":{"containers":[{},{"ports":[{"containerPort":1},{"hostPort":80}]}],
                   "initContainers":[{"ports":[{"hostPort":81},{"hostPort":82}]}]}})",
       R"({"spec":{"containers":[{},{"ports":[{"hostPort":80}]}],
                   "initContainers":[{"ports":[{"hostPort":81},{"hostPort":82}]}]}})"},
  });
}

TEST(DumpFields, OfAPodsConditionsIsTheOneThatTellsOfItsState) {
  constexpr char kConditions[] = R"([
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m","x":1},
      {"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T12:00:00Z","message":"n"}])";
  const auto conditions = [&](const std::string& spec) {
    return trimmed(
        Json::parse(R"({"spec":)" + spec + R"(,"status":{"phase":"Pending","conditions":)" +
                    kConditions + "}}"),
        "Pod")["status"];
  };
  EXPECT_EQ(conditions("{}"), Json::parse(R"({"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}]})"));
  EXPECT_EQ(conditions(R"({"nodeName":"n"})"), Json::parse(R"({"phase":"Pending","conditions":[
      {"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T12:00:00Z"}]})"));
  expect_trimmed({{"no status", "Pod", R"({"status":7})", R"({"status":7})"},
                  {"no conditions", "Pod", R"({"status":{"phase":"Pending"}})",
                   R"({"status":{"phase":"Pending"}})"}});
}

// The API server has not set its requests from limits.
TEST(DumpFields, OfAJobsTemplateAreTheShapeAndTheLimits) {
  expect_trimmed({
      {"as of a pod", "Job",
       R"({"spec":{"suspend":true,"template":{"metadata":{"labels":{"a":"b"}},"spec":{
           "priorityClassName":"low","nodeSelector":{"a":"b"},"hostNetwork":true,"containers":[
             {"image":"SECRET","resources":{"limits":{"nvidia.com/gpu":1}},
              "ports":[{"hostPort":80}]}]}}}})",
       R"({"spec":{"suspend":true,"template":{"spec":{
           "priorityClassName":"low","nodeSelector":{"a":"b"},"containers":[
             {"resources":{"limits":{"nvidia.com/gpu":1}},"ports":[{"hostPort":80}]}]}}}})"},
      {"no template", "Job", R"({"spec":{"suspend":true}})", R"({"spec":{"suspend":true}})"},
      {"an odd one", "Job", R"({"spec":{"template":"odd"}})", R"({"spec":{"template":"odd"}})"},
  });
}

}  // namespace
}  // namespace berth
