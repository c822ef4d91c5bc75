// SPDX-License-Identifier: Apache-2.0
// Outline: ask(), then the steps of a review in order.
#include "controller/server/viewer_desk.h"

#include <openssl/sha.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;
using Heard = ViewerDesk::Standing::Verdict;

// At most as long as API servers themselves trust an authenticator: this is how long a revoked
// token still works.
constexpr std::chrono::nanoseconds kAdmittedFor = 60s;
constexpr std::chrono::nanoseconds kRefusedFor = 20s;
constexpr std::chrono::nanoseconds kUnansweredFor = 3s;
constexpr std::chrono::nanoseconds kRightsFor = 120s;
constexpr std::chrono::nanoseconds kQuietFor = 30s;  // one log line for all errors in this time
constexpr std::chrono::milliseconds kReviewWithin = 10s;  // for each call

// Limits questions about unknown tokens, so that made-up tokens cause no more. Viewers that are
// already admitted do not wait for them.
constexpr double kNewcomersPerSecond = 20;
constexpr int kNewcomersAtOnce = 50;
constexpr std::size_t kReviewsOfNewcomers = 32;
constexpr std::size_t kReviewsAtOnce = 256;
constexpr std::size_t kMostTokens = 4096;
constexpr std::size_t kMostViewers = 2048;
constexpr std::size_t kLongestToken = 16 << 10;

}  // namespace

ViewerDesk::ViewerDesk(Parts parts)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      newcomers_(kNewcomersPerSecond, kNewcomersAtOnce),
      reviews_(loop_) {}

ViewerDesk::Standing ViewerDesk::ask(const std::string& token) {
  if (token.empty() || token.size() > kLongestToken) return {.verdict = Heard::kRefused};
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  const MonotonicTime now = loop_.now();
  auto found = entries_.find(digest);
  const bool counts = found != entries_.end() && now < found->second.until;
  if (found != entries_.end()) {
    found->second.used = now;
    if (found->second.asking || (counts && now < found->second.anew_at))
      return counts ? found->second.standing : Standing{.verdict = Heard::kAsking};
  }
  if (!may_ask(!counts)) return counts ? found->second.standing : Standing{};
  if (found == entries_.end()) {
    make_room();
    found = entries_.try_emplace(digest).first;
    found->second.used = now;
  }
  found->second.asking = true;
  reviews_.spawn(review(digest, token));
  return counts ? found->second.standing : Standing{.verdict = Heard::kAsking};
}

bool ViewerDesk::may_ask(bool newcomer) {
  if (reviews_.token().stop_requested()) return false;
  if (!newcomer) return reviews_.running() < kReviewsAtOnce;
  return reviews_.running() < kReviewsOfNewcomers &&
         newcomers_.take_within(0ns, loop_.now()).has_value();
}

// Removes refused entries before admitted ones, and the one used longest ago first.
void ViewerDesk::make_room() {
  if (entries_.size() < kMostTokens) return;
  const auto rank = [](const auto& one) {
    return std::tuple(one.second.asking, one.second.standing.verdict == Heard::kAdmitted,
                      one.second.used);
  };
  entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                  [&](const auto& a, const auto& b) { return rank(a) < rank(b); }));
}

void ViewerDesk::settle(const Digest& digest, Standing standing, std::chrono::nanoseconds lasts) {
  Entry& entry = entries_[digest];
  const MonotonicTime now = loop_.now();
  entry.standing = std::move(standing);
  entry.until = now + lasts;
  entry.anew_at = entry.standing.verdict == Heard::kAdmitted ? now + lasts / 2 : entry.until;
}

// If the API server does not reply, its earlier answer stays valid until its end.
Task<void> ViewerDesk::review(Digest digest, std::string token) {
  ApiRequest request = token_review(token);
  const Result<Reply> reply = co_await parts_.client.send(std::move(request), options());
  std::optional<Viewer> viewer;
  if (reply.has_value()) viewer = viewer_in(reply->body);
  std::optional<Error> trouble;
  if (!reply.has_value()) {
    trouble = reply.error();
  } else if (!viewer) {
    settle(digest, {.verdict = Heard::kRefused}, kRefusedFor);
  } else {
    Result<std::shared_ptr<const ViewerRights>> rights = co_await rights_of(*viewer);
    if (rights.has_value())
      settle(digest,
             {.verdict = Heard::kAdmitted, .rights = *std::move(rights), .party = viewer->party()},
             kAdmittedFor);
    else
      trouble = rights.error();
  }
  Entry& entry = entries_[digest];
  entry.asking = false;
  if (parts_.on_settled) parts_.on_settled();
  if (!trouble) co_return;
  if (loop_.now() >= quiet_until_) {
    parts_.log.warn("the API server can't be asked about a token", {{"error", describe(*trouble)}});
    quiet_until_ = loop_.now() + kQuietFor;
  }
  if (loop_.now() >= entry.until) settle(digest, {.verdict = Heard::kBusy}, kUnansweredFor);
  entry.anew_at = std::min(entry.until, loop_.now() + kUnansweredFor);
}

// All tokens of one account have the same rights, so this asks once.
Task<Result<std::shared_ptr<const ViewerRights>>> ViewerDesk::rights_of(Viewer viewer) {
  const auto known = granted_.find(viewer);
  if (known != granted_.end() && loop_.now() < known->second.until) co_return known->second.rights;
  Result<ViewerRights> asked = co_await parts_.rights(viewer, options());
  if (!asked.has_value()) co_return asked.error();
  const MonotonicTime now = loop_.now();
  if (granted_.size() >= kMostViewers)
    std::erase_if(granted_, [&](const auto& one) { return one.second.until <= now; });
  auto rights = std::make_shared<const ViewerRights>(*std::move(asked));
  if (granted_.size() < kMostViewers) granted_[viewer] = {rights, now + kRightsFor};
  co_return rights;
}

// These calls do not use the connection for berth's writes.
CallOptions ViewerDesk::options() const {
  return CallOptions(Lane::kBulk, reviews_.token(), kReviewWithin);
}

}  // namespace berth
