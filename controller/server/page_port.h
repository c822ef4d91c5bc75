// SPDX-License-Identifier: Apache-2.0
// PagePort: the page to people of a cluster: each by his bearer token, each what he may list. Those
// who may list the same share one state and one journal, so that five hundred of them cost what one
// does. Its files are anybody's: they tell of nothing.
//
// Loop thread only; it outlives the server that asks it.
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
    std::function<std::optional<Snapshot>()> snapshot;  // none: the cluster has not been read yet
    std::function<ViewerDesk::Standing(const std::string& token)> ask;
    std::function<Moment()> now;
    std::string era;                                  // of the journals, with a number for each
    std::function<void(Moment wait)> wake = nullptr;  // as of LivePage
  };
  explicit PagePort(Parts parts);
  PagePort(const PagePort&) = delete;
  ~PagePort();

  // Something that is shown may be other than it was.
  void changed();
  HttpResponse answer(const HttpCall& call);
  PageFacts facts() const;

 private:
  struct Room;  // of all who have the same rights
  class Visit;  // somebody who follows what changes in one
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
