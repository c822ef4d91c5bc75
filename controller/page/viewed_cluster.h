// SPDX-License-Identifier: Apache-2.0
// ViewedCluster: the part of a cluster that a viewer may read. Whatever is computed from it can't
// name other objects, in any words. It is as if berth ran with the viewer's account; its clues list
// what that account can't read.
//
// Objects of a watched kind are in it if the viewer may list them. In queues, layouts and nodes it
// also removes texts that name pods of namespaces that the viewer may not read.
#pragma once

#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

class ViewedCluster {
 public:
  // `all` must not change, and what it refers to must outlive this.
  ViewedCluster(const Snapshot& all, const ViewerRights& rights);
  ViewedCluster(const ViewedCluster&) = delete;

  Snapshot snapshot() const;
  const Clues& clues() const { return clues_; }

 private:
  template <class T>
  void take(const ViewerRights& rights);
  void take_samples();

  const Snapshot all_;
  bool whole_ = true;  // the viewer may read everything: nothing is copied
  ClusterState cluster_;
  const Answers no_answers_;  // empty: the viewer has not asked the API server
  Samples samples_;
  Clues clues_;
};

}  // namespace berth
