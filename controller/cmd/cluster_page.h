// SPDX-License-Identifier: Apache-2.0
// ClusterPage: the page on a port of a controller's, from the caches that it keeps anyway. Each
// replica serves it, leading or not: they all have full caches. What GPUs do only the one that
// leads measures.
//
// Loop thread only. Stopped, and waited for, before it goes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/cmd/cluster_client.h"
#include "controller/cmd/flags.h"
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
  // All of them outlive it.
  ClusterPage(ClusterClient& cluster, const Controller& controller, const Samples& samples,
              const ControllerFlags& flags);
  ClusterPage(const ClusterPage&) = delete;

  // Unless it is off. False: told.
  bool listen();
  // Something that is shown may be other than it was.
  void changed() { port_.changed(); }
  // None: it is off.
  std::optional<PageFacts> facts() const;
  // Whoever follows is told at once that this is over, and goes to another replica.
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
  const Answers answers_;  // what berth was answered is not for people
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
