// SPDX-License-Identifier: Apache-2.0
// The missing rights of an account, and the command that grants only these.
#include "controller/explain/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Unread forbidden(const std::string& resource, const std::string& namespace_ = "",
                 const std::string& message = "") {
  return {.resource = resource,
          .namespace_ = namespace_,
          .instead = {},
          .reason = "Forbidden",
          .message = message};
}

MissingRights missing(const std::vector<Unread>& unread, RightsFor whom = RightsFor::kPod) {
  return missing_rights(unread, whom, Settings());
}

std::string bound(const std::string& role) {
  return "kubectl create clusterrolebinding " + role + " --clusterrole=" + role + " --user=NAME";
}

// For a refused resource of the role for users with pending pods.
std::string account_in(const std::string& message) {
  const std::string grant = missing({forbidden("nodes", "", message)}).grant;
  return grant.substr(grant.rfind(' ') + 1);
}

TEST(MissingRightsOfATenant, AreThoseThatTellWhyAPodWaits) {
  const MissingRights of_nodes = missing({forbidden("nodes"), forbidden("services")});
  EXPECT_THAT(of_nodes.resources, ElementsAre("nodes")) << "services tell nothing of it";
  EXPECT_EQ(of_nodes.grant, bound("berth-why"));
  EXPECT_THAT(missing({forbidden("services")}).resources, IsEmpty());
  EXPECT_EQ(missing({forbidden("services")}).grant, "");
  EXPECT_EQ(missing({}).grant, "");
}

// The small role has no pods: for other resources it helps most, for pods alone not at all.
TEST(MissingRightsOfATenant, AreTheSmallRoleUnlessThatWouldGiveNothing) {
  EXPECT_EQ(missing({forbidden("pods")}).grant, bound("berth-snapshot"));
  EXPECT_EQ(missing({forbidden("pods"), forbidden("nodes")}).grant, bound("berth-why"));
}

TEST(MissingRightsOfWhoRunsTheCluster, AreAll) {
  const MissingRights rights =
      missing({forbidden("nodes"), forbidden("services")}, RightsFor::kCluster);
  EXPECT_THAT(rights.resources, ElementsAre("nodes", "services"));
  EXPECT_EQ(rights.grant, bound("berth-snapshot"));
}

TEST(MissingRightsText, SaysWhereEachWasReadAndEachOnce) {
  Unread elsewhere = forbidden("pods");
  elsewhere.instead = "vision";
  EXPECT_THAT(missing({elsewhere, forbidden("nodes"), forbidden("nodes")}).resources,
              ElementsAre("pods outside namespace vision", "nodes"));
}

TEST(MissingRightsText, WhatIsNotThereIsNoMatterOfRights) {
  Unread absent = forbidden("nodes");
  absent.reason = "NotFound";
  EXPECT_THAT(missing({absent}).resources, IsEmpty());
  EXPECT_EQ(missing({absent}).grant, "");
}

TEST(MissingRightsText, ASingleNamespaceIsGrantedByItself) {
  const Settings settings;
  const auto in = [](const std::string& namespace_) {
    return "kubectl create rolebinding berth-snapshot -n " + namespace_ +
           " --role=berth-snapshot --user=NAME";
  };
  const MissingRights rights = missing({forbidden("configmaps", settings.agents_namespace),
                                        forbidden("leases", settings.berth_namespace)},
                                       RightsFor::kCluster);
  EXPECT_THAT(rights.resources, ElementsAre("configmaps in namespace " + settings.agents_namespace,
                                            "leases in namespace " + settings.berth_namespace));
  EXPECT_EQ(rights.grant, in(settings.berth_namespace) + " && " + in(settings.agents_namespace));
  EXPECT_EQ(missing({forbidden("configmaps", settings.agents_namespace), forbidden("nodes")},
                    RightsFor::kCluster)
                .grant,
            bound("berth-snapshot") + " && " + in(settings.agents_namespace));
}

TEST(MissingRightsAccount, IsWhoTheServerSaysItIs) {
  EXPECT_EQ(account_in(R"(nodes is forbidden: User "jane@example.com" cannot list resource)"),
            "--user=jane@example.com");
  EXPECT_EQ(account_in(R"(User "AZaz09._:-/" cannot list)"), "--user=AZaz09._:-/");
  EXPECT_EQ(account_in(R"(User "system:serviceaccount:vision:ci" cannot list resource "nodes")"),
            "--serviceaccount=vision:ci");
  EXPECT_EQ(
      missing({forbidden("pods", "", "no"), forbidden("nodes", "", R"(User "x" cannot)")}).grant,
      "kubectl create clusterrolebinding berth-why --clusterrole=berth-why --user=x")
      << "whichever of the refusals says it";
}

// The line is pasted into a shell.
TEST(MissingRightsAccount, IsLeftOpenWhereItsNameCouldBeMore) {
  for (const char* user : {"", "x; rm -rf", "$(id)", "a`b", "a[b", "a{b", "a'b"})
    EXPECT_EQ(account_in("User \"" + std::string(user) + "\" cannot list"), "--user=NAME") << user;
  for (const char* message : {"", "nodes is forbidden", "User \"jane"})
    EXPECT_EQ(account_in(message), "--user=NAME") << message;
}

}  // namespace
}  // namespace berth::test
