// SPDX-License-Identifier: Apache-2.0
// ViewerDesk: who shows a token, and what they may. The API server is asked once and again while
// the token is in use; what it said counts for a while, its refusals too, and where it does not
// answer nobody is let in any longer. Tokens are kept nowhere but as their digests.
//
// Loop thread only. Stopped, and waited for, before it goes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apis/result.h"
#include "controller/client/api_client.h"
#include "controller/client/token_bucket.h"
#include "controller/io/log.h"
#include "controller/io/task_group.h"
#include "controller/page/viewer_rights.h"
#include "controller/server/viewer_reviews.h"

namespace berth {

class ViewerDesk {
 public:
  struct Parts {
    ApiClient& client;  // with a rate of its own
    Log& log;
    // The rights of a token's owner; an error: the API server did not answer.
    std::function<Task<Result<ViewerRights>>(Viewer viewer, CallOptions options)> rights;
    std::function<void()> on_settled = nullptr;  // something that was asked is known now
  };
  explicit ViewerDesk(Parts parts);
  ViewerDesk(const ViewerDesk&) = delete;

  struct Standing {
    enum class Verdict {
      kAsking,   // not known yet: ask again in a moment
      kBusy,     // too many are asked about at once, or the API server does not answer
      kRefused,  // nobody's token
      kAdmitted,
    };
    Verdict verdict = Verdict::kBusy;
    // If he is admitted.
    std::shared_ptr<const ViewerRights> rights = nullptr;
    std::string party = {};  // see Viewer::party()
  };
  // What counts of the token now. Whoever stays asks now and then: so it is looked at anew in time.
  Standing ask(const std::string& token);

  void stop(std::function<void()> on_empty) { reviews_.stop(std::move(on_empty)); }

 private:
  using Digest = std::array<std::uint8_t, 32>;
  struct Entry {
    Standing standing;
    MonotonicTime until{0};    // it counts up to then
    MonotonicTime anew_at{0};  // and is to be looked at again from then on
    MonotonicTime used{0};
    bool asking = false;
  };
  struct Granted {
    std::shared_ptr<const ViewerRights> rights;
    MonotonicTime until{0};
  };

  bool may_ask(bool newcomer);
  void make_room();
  void settle(const Digest& digest, Standing standing, std::chrono::nanoseconds lasts);
  Task<void> review(Digest digest, std::string token);
  Task<Result<std::shared_ptr<const ViewerRights>>> rights_of(Viewer viewer);
  CallOptions options() const;

  const Parts parts_;
  Loop& loop_;
  TokenBucket newcomers_;
  MonotonicTime quiet_until_{0};  // of trouble with the API server
  std::map<Digest, Entry> entries_;
  std::map<Viewer, Granted> granted_;
  TaskGroup reviews_;
};

}  // namespace berth
