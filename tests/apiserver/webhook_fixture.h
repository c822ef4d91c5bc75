// SPDX-License-Identifier: Apache-2.0
// WebhookTest: helm/berth with its webhook, which runs here as a local process with the token of
// the chart's ServiceAccount. The chart's Service becomes an alias of loopback, so that the API
// server calls the webhook by the Service's name, as in the certificate. The test acts as the
// kubelet: it writes the Secret to files and switches versions by a link.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {

class WebhookTest : public ChartTest {
 protected:
  // One node, n1, and the chart, with a route to a loopback port; namespace gpu-team is managed,
  // team-a is not.
  void SetUp() override;
  void TearDown() override;

  // Pool training with the nodes of this label ("key: value"), a controller, and a webhook that
  // knows the pool.
  void start_with_a_pool(const std::string& label = "kubernetes.io/hostname: n1");

  // The certificate manager process with its own account, and its certificate written to files.
  void start_keeper();
  void stop_keeper() { keeper_.reset(); }
  std::unique_ptr<Child> new_keeper(const std::string& check, const std::string& health = "0");
  // For start_keeper()'s process: the HTTP status of /readyz.
  int keepers_readiness();
  void mount_secret();
  // Rewrites the files if the Secret has changed: the first leaf may be created twice.
  void follow_secret();
  // Writes a pair as the files of the mounted Secret.
  void mount(const std::string& chain, const std::string& key);
  // Starts the process and waits until it answers. A second call is a restart.
  void start_webhook(const std::vector<std::string>& flags = {});
  void kill_webhook() { webhook_->kill_now(); }
  Child& webhook() { return *webhook_; }
  void wait_answering();
  std::string scrape_webhook();  // its /metrics
  int webhook_metrics_port() const { return metrics_port_; }

  std::string folder() const { return plane().scratch() + "/webhook-certificate"; }
  // The caBundle of each webhook in both configurations, as PEM.
  std::vector<std::string> bundles();
  void set_bundles(const std::string& pem);

  // A pod's JSON. `resources`: "" or members of a container's resources, for example "\"limits\":
  // {…}".
  static std::string pod(const std::string& name, const std::string& resources,
                         const std::string& more_spec = "");
  Reply create_pod(const std::string& ns, const std::string& json, bool dry_run = false);

 private:
  void end_webhook();

  int port_ = 0;
  int keepers_port_ = 0;
  int metrics_port_ = 0;  // of the webhook
  int mounts_ = 0;
  std::string mounted_version_;  // of the mounted Secret
  std::unique_ptr<Child> webhook_;
  std::unique_ptr<Child> keeper_;
};

}  // namespace berth::test
