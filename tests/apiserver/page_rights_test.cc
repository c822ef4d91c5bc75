// SPDX-License-Identifier: Apache-2.0
// The page on the controller's port, for users with tokens of a real API server: it names to each
// only the objects that they may list. berth runs with the chart's account, and every probe is
// compared with the API server's answer to the same token.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/apiserver/chart_fixture.h"
#include "tests/server/plain_connection.h"

namespace berth::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTeams[] = {"team-a", "team-b", "default"};
constexpr char kListsPods[] = "[{apiGroups: [''], resources: [pods], verbs: [list]}]";

// A user with a role, everywhere or in some namespaces.
struct Person {
  std::string name;
  std::string rules;
  std::vector<std::string> namespaces;  // "": everywhere
  std::string also = {};                // a user whose role they also have everywhere
};
const Person kPeople[] = {
    {"nobody", "[]", {""}},
    {"lists-a", kListsPods, {"team-a"}},
    {"lists-b", kListsPods, {"team-b"}},
    {"lists-both", kListsPods, {"team-a", "default"}},
    {"lists-all", kListsPods, {""}},
    {"nodes-alone", "[{apiGroups: [''], resources: [nodes], verbs: [get, list]}]", {""}},
    // A wrong verb or resource, or one name instead of all.
    {"gets", "[{apiGroups: [''], resources: [pods, nodes], verbs: [get, watch]}]", {""}},
    {"one-name",
     "[{apiGroups: [''], resources: [pods], resourceNames: [waits-team-a], verbs: [get, list]}]",
     {"team-a"}},
    {"writes", "[{apiGroups: [''], resources: [pods], verbs: [create, delete]}]", {""}},
    {"subresources",
     "[{apiGroups: [''], resources: [pods/log, nodes/status], verbs: [list]}]",
     {""}},
    {"another-group",
     "[{apiGroups: [metrics.k8s.io], resources: [pods, nodes], verbs: [list]}]",
     {""}},
    {"nodes-in-a-namespace", "[{apiGroups: [''], resources: [nodes], verbs: [list]}]", {"team-a"}},
    {"queues", "[{apiGroups: [gpu.berth.dev], resources: [gpuqueues], verbs: [list]}]", {""}},
    {"layouts", "[{apiGroups: [gpu.berth.dev], resources: [miglayouts], verbs: [list]}]", {""}},
    {"tenant",
     "[{apiGroups: [''], resources: [pods, nodes], verbs: [list]}, {apiGroups: [gpu.berth.dev], "
     "resources: ['*'], verbs: [list]}]",
     {"team-a"}},
    {"tenant-with-nodes", kListsPods, {"team-a"}, "nodes-alone"},
    {"tenant-with-layouts", kListsPods, {"team-b"}, "layouts"},
    {"everything", "[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]", {""}},
};

class PageRights : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1"});
    const Said installed = install({"page.enabled=true", "page.plainHTTP=true"});
    ASSERT_EQ(installed.code, 0) << installed.text;
    for (const char* team : kTeams) {
      cluster().add_bare_pod({.name = std::string("holds-") + team, .ns = team});
      cluster().add_bare_pod({.name = std::string("waits-") + team, .ns = team, .count = 64});
    }
    wait_until("the pods to be bound", seconds(60), [&]() -> std::string {
      for (const std::string team : kTeams)
        if (kube().get({"pods", "holds-" + team, team}).text("/spec/nodeName").empty()) return team;
      return "";
    });
    apply({.node_selector = "{matchLabels: {nowhere: \"true\"}}"});
    kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: shared-queue}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: nowhere}}
  quotas: [{resource: nvidia.com/gpu, pool: training, nominalQuota: 4}]
)");
    for (const Person& person : kPeople) add(person);
    port_ = free_loopback_port();
    start_berth_as_account(
        {"--page-bind-address=127.0.0.1:" + std::to_string(port_), "--page-plain-http"});
  }

  void TearDown() override {
    if (!IsSkipped()) {
      kube().remove({"gpuqueues", "shared-queue"});
      for (const Person& person : kPeople) {
        kube().remove({"clusterroles", "looks-" + person.name});
        for (const std::string& ns : person.namespaces) unbind(person.name, person.name, ns);
        if (!person.also.empty()) unbind(person.name, person.also, "");
      }
    }
    ChartTest::TearDown();
  }

  void add(const Person& person) {
    kube().apply(fmt::format(R"(
apiVersion: v1
kind: ServiceAccount
metadata: {{name: looks-{0}, namespace: berth-system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: looks-{0}}}
rules: {1}
)",
                             person.name, person.rules));
    for (const std::string& ns : person.namespaces) bind(person.name, person.name, ns);
    if (!person.also.empty()) bind(person.name, person.also, "");
  }
  void bind(const std::string& name, const std::string& role, const std::string& ns) {
    kube().apply(fmt::format(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: {2}
metadata: {{name: looks-{0}-{1}{3}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: looks-{1}}}
subjects: [{{kind: ServiceAccount, name: looks-{0}, namespace: berth-system}}]
)",
                             name, role, ns.empty() ? "ClusterRoleBinding" : "RoleBinding",
                             ns.empty() ? "" : ", namespace: " + ns));
  }

  void unbind(const std::string& name, const std::string& role, const std::string& ns) {
    kube().remove(
        {ns.empty() ? "clusterrolebindings" : "rolebindings", "looks-" + name + "-" + role, ns});
  }

  std::string send(const std::string& target, const std::string& token) {
    Connection connection(port_);
    connection.send("GET " + target + " HTTP/1.1\r\nHost: gpus.example\r\nAuthorization: Bearer " +
                    token + "\r\n\r\n");
    return connection.receive();
  }
  static int status_of(const std::string& response) {
    return response.size() < 12 ? 0 : std::stoi(response.substr(9, 3));
  }
  static std::string body_of(const std::string& response) {
    const std::size_t end = response.find("\r\n\r\n");
    return end == std::string::npos ? "" : response.substr(end + 4);
  }
  // Once the API server has answered, and it is this request's turn.
  std::string ask(const std::string& target, const std::string& token) {
    std::string response;
    wait_until(target, seconds(60), [&]() -> std::string {
      response = send(target, token);
      const int status = status_of(response);
      return status != 0 && status != 503 ? "" : response + " ";
    });
    return response;
  }

  int port_ = 0;
};

TEST_F(PageRights, NothingIsShownThatTheAPIServerDoesNotListToTheSameToken) {
  int probes = 0, shown = 0;
  for (const Person& person : kPeople) {
    SCOPED_TRACE(person.name);
    const Credentials credentials = account("looks-" + person.name);
    Kube himself(credentials);
    const auto lists = [&](const std::string& path) {
      return himself.send("GET", path + "?limit=1").ok();
    };
    const auto expect = [&](bool is_shown, bool may, const std::string& what) {
      EXPECT_EQ(is_shown, may) << what;
      ++probes;
      shown += is_shown ? 1 : 0;
    };
    const auto explained = [&](const std::string& subject) {
      return status_of(ask("/ui/why?subject=" + subject, credentials.token)) == 200;
    };
    const std::string response = ask("/ui/state", credentials.token);
    ASSERT_EQ(status_of(response), 200) << response;
    const std::string text = body_of(response);
    const json state = json::parse(text);
    const bool nodes = lists("/api/v1/nodes");
    expect(state["nodes"].contains("n1"), nodes, "node n1");
    expect(explained("node/n1"), nodes, "why of n1");
    expect(state["queues"].contains("shared-queue"),
           lists("/apis/gpu.berth.dev/v1alpha1/gpuqueues"), "queue");
    const bool layouts = lists("/apis/gpu.berth.dev/v1alpha1/miglayouts");
    expect(state["layouts"].contains("inference-a100"), layouts, "layout");
    expect(explained("miglayout/inference-a100"), layouts, "why of the layout");
    for (const std::string team : kTeams) {
      const bool pods = lists("/api/v1/namespaces/" + team + "/pods");
      expect(state["waiting"].contains("Pod/" + team + "/waits-" + team), pods, "waits in " + team);
      expect(explained("pod/" + team + "/waits-" + team), pods, "why of what waits in " + team);
      expect(explained("pod/" + team + "/holds-" + team), pods, "why of what holds in " + team);
      expect(text.find("holds-" + team) != std::string::npos, pods && nodes, "holds in " + team);
      if (pods) continue;
      EXPECT_THAT(text,
                  Not(testing::AnyOf(HasSubstr("waits-" + team), HasSubstr("holds-" + team))));
    }
    if (nodes) {
      const json& part = state["nodes"]["n1"]["parts"][0];
      EXPECT_EQ(part["held"].size() + part.value("others", 0u), std::size(kTeams))
          << "what others hold is counted: " << part;
    }
  }
  std::cout << probes << " probes, " << shown << " of what may be listed\n";
  EXPECT_GE(probes, 200);
  EXPECT_GE(shown, 20) << "and something was shown";
}

// With the chart's role for tenants, and `edit` in their own namespace.
TEST_F(PageRights, ATenantSeesTheirWaitingJobsInTheNumberTheListAndTheQueue) {
  kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: teams}
spec:
  default: true
  namespaceSelector:
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: In, values: [team-a, team-b]}
  quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 1}]
)");
  const auto submit = [](const std::string& name, const std::string& ns) {
    kube().apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {}, namespace: {}}}
spec:
  suspend: true
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
)",
                             name, ns));
  };
  submit("first", "team-a"), submit("second", "team-a"), submit("secret", "team-b");
  const Credentials ann = person("ann", "edit", "team-a");
  person("ann", "berth-why");
  json state;
  wait_until("the queue's status to have reached the page", seconds(90), [&]() -> std::string {
    state = json::parse(body_of(ask("/ui/state", ann.token)));
    return state["queues"].contains("teams") && state["queues"]["teams"]["pending"].size() == 2
               ? ""
               : state["queues"].dump();
  });
  EXPECT_EQ(state["waitingOf"], "some");
  for (const char* job : {"first", "second"}) {
    const std::string subject = std::string("Job/team-a/") + job;
    ASSERT_TRUE(state["waiting"].contains(subject)) << state["waiting"];
    EXPECT_EQ(state["waiting"][subject]["reason"], "ExceedsMaximum");
    EXPECT_THAT(state["waiting"][subject]["message"].get<std::string>(),
                HasSubstr("the queue can never hold more than 1"));
  }
  EXPECT_EQ(state["queues"]["teams"]["waits"], 3) << "that of others is counted";
  for (const json& pending : state["queues"]["teams"]["pending"]) {
    EXPECT_THAT(pending["workload"].get<std::string>(), testing::StartsWith("team-a/"));
    EXPECT_THAT(pending["message"].get<std::string>(),
                HasSubstr("the queue can never hold more than 1"));
  }
  EXPECT_THAT(state.dump(), Not(HasSubstr("secret")));
  for (const char* job : {"first", "second"}) kube().remove({"jobs", job, "team-a"});
  kube().remove({"jobs", "secret", "team-b"});
  kube().remove({"gpuqueues", "teams"});
}

TEST_F(PageRights, WhoIsNobodyOrNobodyAnyLongerIsTurnedAway) {
  const std::string token = account("looks-lists-all").token;
  for (const std::string& wrong : {std::string("made-up"), std::string("e30.e30.e30"), token + "x",
                                   token.substr(1), token.substr(0, token.rfind('.')) + "."})
    EXPECT_EQ(status_of(ask("/ui/state", wrong)), 401) << wrong.size();
  Connection bare(port_);
  bare.send("GET /ui/state HTTP/1.1\r\nHost: gpus.example\r\n\r\n");
  EXPECT_EQ(status_of(bare.receive()), 401);
  EXPECT_EQ(status_of(send("/ui/", "")), 200) << "the page itself is anybody's";

  ASSERT_EQ(status_of(ask("/ui/state", token)), 200);
  Connection follower(port_);
  ASSERT_TRUE(
      follower.send("GET /ui/events HTTP/1.1\r\nHost: gpus.example\r\nAuthorization: "
                    "Bearer " +
                    token + "\r\n\r\n"));
  EXPECT_THAT(follower.receive_until("event: again"), HasSubstr("text/event-stream"));
  kube().remove({"serviceaccounts", "looks-lists-all", "berth-system"});
  wait_until("the token to be over", seconds(90), [&]() -> std::string {
    const std::string response = send("/ui/state", token);
    return status_of(response) == 401 ? "" : response.substr(0, 40);
  });
  wait_until("the stream to end", seconds(30),
             [&]() -> std::string { return follower.closed_by_peer() ? "" : "it goes on"; });
}

TEST_F(PageRights, BerthMayAskWhatItAsks) {
  for (const Person& person : kPeople) ask("/ui/state", account("looks-" + person.name).token);
  EXPECT_THAT(refused_to_berth(), testing::IsEmpty());
}

}  // namespace
}  // namespace berth::test
