// SPDX-License-Identifier: Apache-2.0
// WebhookTest: helm/berth with its webhook, which runs here as a local process with the token of
// the chart's ServiceAccount for it. The chart's Service is made an alias of loopback, so that the
// API server calls by the Service's name, as the certificate has it. The test is the kubelet: it
// lays the Secret out as files and exchanges them by a link.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {

class WebhookTest : public ChartTest {
 protected:
  // One node, n1, and the chart, routed to a port of loopback; namespace gpu-team is managed,
  // team-a is not.
  void SetUp() override;
  void TearDown() override;

  // Pool training of the nodes with this label ("key: value"), a controller, and a webhook that
  // knows the pool.
  void start_with_a_pool(const std::string& label = "kubernetes.io/hostname: n1");

  // The keeper of the certificates under its own account, and what it made laid out as files.
  void start_keeper();
  void stop_keeper() { keeper_.reset(); }
  std::unique_ptr<Child> new_keeper(const std::string& check, const std::string& health = "0");
  // Of start_keeper()'s: HTTP status of /readyz.
  int keepers_readiness();
  void mount_secret();
  // What changed in the Secret since, laid out anew: a keeper may make its first leaf twice.
  void follow_secret();
  // A pair laid out as the files of the mounted Secret.
  void mount(const std::string& chain, const std::string& key);
  // As a process that answers. Again: a restart.
  void start_webhook(const std::vector<std::string>& flags = {});
  void kill_webhook() { webhook_->kill_now(); }
  Child& webhook() { return *webhook_; }
  void wait_answering();
  std::string scrape_webhook();  // its /metrics
  int webhook_metrics_port() const { return metrics_port_; }

  std::string folder() const { return plane().scratch() + "/webhook-certificate"; }
  // caBundle of each webhook of both configurations, PEM.
  std::vector<std::string> bundles();
  void set_bundles(const std::string& pem);

  // A pod's JSON. `resources`: "" or members of a container's resources, as "\"limits\": {…}".
  static std::string pod(const std::string& name, const std::string& resources,
                         const std::string& more_spec = "");
  Reply create_pod(const std::string& ns, const std::string& json, bool dry_run = false);

 private:
  void end_webhook();

  int port_ = 0;
  int keepers_port_ = 0;
  int metrics_port_ = 0;  // of the webhook
  int mounts_ = 0;
  std::string mounted_version_;  // of the Secret that is laid out
  std::unique_ptr<Child> webhook_;
  std::unique_ptr<Child> keeper_;
};

}  // namespace berth::test
