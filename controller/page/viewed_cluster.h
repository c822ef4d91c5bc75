// SPDX-License-Identifier: Apache-2.0
// ViewedCluster: of a cluster what a viewer may read, and nothing else: what is computed from it
// can tell him no other name, whatever it is and however it is worded. It is as if berth ran with
// his account: what it does without stands in its clues.
//
// An object of a kind that berth watches is there if he may list it. Of queues, layouts and nodes
// go, besides, the words that name pods of namespaces which he may not read.
#pragma once

#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

class ViewedCluster {
 public:
  // What `all` refers to outlives this, and does not change meanwhile.
  ViewedCluster(const Snapshot& all, const ViewerRights& rights);
  ViewedCluster(const ViewedCluster&) = delete;

  Snapshot snapshot() const;
  const Clues& clues() const { return clues_; }

 private:
  template <class T>
  void take(const ViewerRights& rights);
  void take_samples();

  const Snapshot all_;
  bool whole_ = true;  // he may read all there is: nothing is copied
  ClusterState cluster_;
  const Answers no_answers_;  // what the API server told berth it did not tell him
  Samples samples_;
  Clues clues_;
};

}  // namespace berth
