// SPDX-License-Identifier: Apache-2.0
// ChartTest: a case that installs helm/berth with helm. The namespace berth-system enforces the
// pod-security profile "restricted", and no CRD of berth's is there before the chart brings it.
// Berth itself runs as a local process with the token of the chart's ServiceAccount, so that its
// RBAC and admission policies are what it lives under. Where helm can be had neither from the
// environment nor by building, the cases are skipped, except in CI (CI=true), where they fail.
#pragma once

#include <string>
#include <vector>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {

inline constexpr char kAccount[] = "system:serviceaccount:berth-system:berth";

class ChartTest : public RolloutTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  struct Said {
    int code = 0;
    std::string text;  // stdout and stderr
  };
  // A program with these words, to its end.
  Said run(const std::vector<std::string>& words, std::vector<std::string> environment = {});
  // helm with these words, as an administrator.
  Said helm(std::vector<std::string> words);
  // install or upgrade of release berth, and a wait until its pods are ready. Without the webhook,
  // unless a value says otherwise: no Service leads anywhere here.
  Said install(const std::vector<std::string>& values = {}) { return release("install", values); }
  Said upgrade(const std::vector<std::string>& values = {}) { return release("upgrade", values); }

  // One of the chart's ServiceAccounts, by a token for an hour.
  Credentials account(const std::string& name = "berth");
  // Somebody who is bound to the ClusterRole, in one namespace or, without, everywhere.
  Credentials person(const std::string& name, const std::string& cluster_role,
                     const std::string& ns = "");
  // With what the chart's Deployment tells it of keys on nodes.
  Berth& start_berth_as_account(std::vector<std::string> flags = {});
  // The flags of a Deployment of the chart's that begin so: "--node-".
  static std::vector<std::string> chart_flags(const std::string& deployment,
                                              const std::string& prefix);
  // What the API server or berth's own log tells of something that berth may not do.
  std::vector<std::string> refused_to_berth();

 private:
  Said release(const std::string& verb, const std::vector<std::string>& values);

  std::string helm_;
  std::size_t log_begins_ = 0;
};

}  // namespace berth::test
