// SPDX-License-Identifier: Apache-2.0
// ViewerDesk: who the owner of a token is, and what the owner may list. It asks the API server
// first, and repeatedly while the token is in use. Answers and refusals are valid for a while. If
// the API server does not reply for longer, it admits no viewer. It stores tokens only as digests.
//
// Loop thread only. Call stop() and wait for it before the destructor.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apis/base/result.h"
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
    ApiClient& client;  // with its own rate limit
    Log& log;
    // The rights of a token's owner; an error: the API server did not reply.
    std::function<Task<Result<ViewerRights>>(Viewer viewer, CallOptions options)> rights;
    std::function<void()> on_settled = nullptr;  // an answer has arrived
  };
  explicit ViewerDesk(Parts parts);
  ViewerDesk(const ViewerDesk&) = delete;

  struct Standing {
    enum class Verdict {
      kAsking,   // unknown yet: ask again soon
      kBusy,     // too many questions at once, or the API server does not reply
      kRefused,  // the token is invalid
      kAdmitted,
    };
    Verdict verdict = Verdict::kBusy;
    // Only for kAdmitted.
    std::shared_ptr<const ViewerRights> rights = nullptr;
    std::string party = {};  // see Viewer::party()
  };
  // Returns what is known about the token now. Callers repeat it while their viewer stays, which
  // refreshes it in time.
  Standing ask(const std::string& token);

  void stop(std::function<void()> on_empty) { reviews_.stop(std::move(on_empty)); }

 private:
  using Digest = std::array<std::uint8_t, 32>;
  struct Entry {
    Standing standing;
    MonotonicTime until{0};    // valid until then
    MonotonicTime anew_at{0};  // to be asked again from then on
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
  MonotonicTime quiet_until_{0};  // after an error of the API server
  std::map<Digest, Entry> entries_;
  std::map<Viewer, Granted> granted_;
  TaskGroup reviews_;
};

}  // namespace berth
