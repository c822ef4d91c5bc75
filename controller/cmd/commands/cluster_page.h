// SPDX-License-Identifier: Apache-2.0
// ClusterPage: the page on a port of the controller, from the controller's caches. Each replica
// serves it, also standbys, because they all have full caches. Only the leader has GPU
// measurements.
//
// Loop thread only. Call stop() and wait for it before the destructor.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/line/flags.h"
#include "controller/io/task_group.h"
#include "controller/runtime/controller.h"
#include "controller/server/http_server.h"
#include "controller/server/list_rights.h"
#include "controller/server/mounted_files.h"
#include "controller/server/page_port.h"
#include "controller/server/serving_certificate.h"
#include "controller/server/viewer_desk.h"

namespace berth {

class ClusterPage {
 public:
  // All arguments must outlive it.
  ClusterPage(ClusterClient& cluster, const Controller& controller, const Samples& samples,
              const ControllerFlags& flags);
  ClusterPage(const ClusterPage&) = delete;

  // Does nothing if the page is off. False: failed and logged.
  bool listen();
  // The state may have changed.
  void changed() { port_.changed(); }
  // nullopt: the page is off.
  std::optional<PageFacts> facts() const;
  // Ends all feeds, so that viewers go to another replica.
  void drain() { server_.drain(); }
  void stop(std::function<void()> on_empty);

 private:
  std::optional<Snapshot> snapshot() const;
  std::vector<std::string> namespaces() const;
  Task<void> follow_certificate(std::stop_token stop);

  const Controller& controller_;
  const Samples& samples_;
  const ControllerFlags& flags_;
  UvLoop& loop_;
  SpdlogLog& log_;
  const Answers answers_;  // empty: the page shows no answers of the API server
  ApiClient client_;
  ListRights rights_;
  ViewerDesk desk_;
  PagePort port_;
  ServingCertificate certificate_;
  MountedFiles files_;
  TaskGroup tasks_;
  HttpServer server_;
};

}  // namespace berth
