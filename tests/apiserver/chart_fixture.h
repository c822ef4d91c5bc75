// SPDX-License-Identifier: Apache-2.0
// ChartTest: a case that installs helm/berth with helm. The namespace berth-system enforces the
// pod-security profile "restricted", and no CRD of berth exists before the installation. berth
// itself runs as a local process with the token of the chart's ServiceAccount, so that the chart's
// RBAC and admission policies apply to it. If helm is neither installed nor can be built, the cases
// are skipped; in CI (CI=true) they fail.
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
  // Runs a program with these arguments to its end.
  Said run(const std::vector<std::string>& words, std::vector<std::string> environment = {});
  // Runs helm with these arguments, as an administrator.
  Said helm(std::vector<std::string> words);
  // Installs or upgrades release berth, and waits until its pods are ready. Without the webhook by
  // default, because no Service leads to a process here.
  Said install(const std::vector<std::string>& values = {}) { return release("install", values); }
  Said upgrade(const std::vector<std::string>& values = {}) { return release("upgrade", values); }

  // One of the chart's ServiceAccounts, with a token for an hour.
  Credentials account(const std::string& name = "berth");
  // A user who is bound to the ClusterRole, in one namespace or, without `ns`, everywhere.
  Credentials person(const std::string& name, const std::string& cluster_role,
                     const std::string& ns = "");
  // With the chart's flags for keys on nodes.
  Berth& start_berth_as_account(std::vector<std::string> flags = {});
  // The flags with this prefix in a Deployment of the chart, for example "--node-".
  static std::vector<std::string> chart_flags(const std::string& deployment,
                                              const std::string& prefix);
  // Refusals to berth in the audit log or in berth's own log.
  std::vector<std::string> refused_to_berth();

 private:
  Said release(const std::string& verb, const std::vector<std::string>& values);

  std::string helm_;
  std::size_t log_begins_ = 0;
};

}  // namespace berth::test
