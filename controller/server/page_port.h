// SPDX-License-Identifier: Apache-2.0
// PagePort: serves the page to viewers in a cluster. Each viewer shows a bearer token and sees what
// the API server lets them list. Viewers with equal rights share one state and one journal, so that
// five hundred cost no more than one. The page's files need no token: they contain nothing about
// the cluster.
//
// Loop thread only; it must outlive its server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/core/snapshot.h"
#include "controller/page/viewer_rights.h"
#include "controller/runtime/metrics.h"
#include "controller/server/http_server.h"
#include "controller/server/live_page.h"
#include "controller/server/loop_share.h"
#include "controller/server/page_site.h"
#include "controller/server/viewer_desk.h"

namespace berth {

class PagePort {
 public:
  using Moment = LivePage::Moment;
  struct Parts {
    std::function<std::optional<Snapshot>()> snapshot;  // nullopt: the caches have not synced
    std::function<ViewerDesk::Standing(const std::string& token)> ask;
    std::function<Moment()> now;
    std::string era;  // prefix of the journals' ids; each journal adds a number
    std::function<void(Moment wait)> wake = nullptr;  // see LivePage
  };
  explicit PagePort(Parts parts);
  PagePort(const PagePort&) = delete;
  ~PagePort();

  // The state may have changed.
  void changed();
  HttpResponse answer(const HttpCall& call);
  PageFacts facts() const;

 private:
  struct Room;  // shared by all viewers with the same rights
  class Visit;  // one viewer's feed from a room
  std::shared_ptr<Room> room_of(const ViewerDesk::Standing& viewer);
  bool close_one_for(const ViewerDesk::Standing& viewer);
  std::optional<PageState> state_in(const Room& room);
  Result<std::string> why_in(const Room& room, const std::string& subject);

  const Parts parts_;
  PageSite files_;
  LoopShare share_;
  std::map<ViewerRights, std::shared_ptr<Room>> rooms_;
  int made_ = 0;  // rooms
  PageFacts refused_;
};

}  // namespace berth
