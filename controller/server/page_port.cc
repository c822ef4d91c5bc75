// SPDX-License-Identifier: Apache-2.0
#include "controller/server/page_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/page/page_state.h"
#include "controller/page/page_why.h"
#include "controller/server/bearer_token.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using Heard = ViewerDesk::Standing::Verdict;

// All viewers together get one twentieth of the loop's time.
constexpr int kRestAfterATurn = 19;
constexpr std::size_t kMostRooms = 64;

}  // namespace

struct PagePort::Room {
  Room(PagePort& port, const ViewerDesk::Standing& opener, std::string era)
      : rights(*opener.rights),
        party(opener.party),
        page({.state = [this, &port] { return port.state_in(*this); },
              .now = port.parts_.now,
              .era = std::move(era),
              .wake = port.parts_.wake}),
        site({.document = [this] { return page.document(); },
              .follow = [this](std::string_view since) { return page.follow(since); },
              .why = [this,
                      &port](const std::string& subject) { return port.why_in(*this, subject); }}) {
  }

  const ViewerRights rights;
  const std::string party;  // of the viewer that opened it
  LivePage page;
  PageSite site;
  Moment used{0};
  bool closed = false;  // to make space for another room
};

// Ends when the viewer's token expires or the viewer's rights change, and when the room is closed.
class PagePort::Visit final : public HttpFeed {
 public:
  Visit(PagePort& port, std::shared_ptr<Room> room, std::string token,
        std::shared_ptr<HttpFeed> told)
      : port_(port), room_(std::move(room)), token_(std::move(token)), told_(std::move(told)) {}

  void next(std::string& out) override {
    const ViewerDesk::Standing now = port_.parts_.ask(token_);
    over_ = room_->closed || now.verdict != Heard::kAdmitted || *now.rights != room_->rights;
    if (over_) return;
    room_->used = port_.parts_.now();
    told_->next(out);
  }
  bool over() const override { return over_; }

 private:
  PagePort& port_;
  const std::shared_ptr<Room> room_;
  const std::string token_;
  const std::shared_ptr<HttpFeed> told_;
  bool over_ = false;
};

PagePort::PagePort(Parts parts)
    : parts_(std::move(parts)),
      files_({.document = [] { return nullptr; }, .follow = nullptr, .why = nullptr}),
      share_(kRestAfterATurn) {}

PagePort::~PagePort() = default;

void PagePort::changed() {
  for (const auto& [rights, room] : rooms_) room->page.changed();
}

HttpResponse PagePort::answer(const HttpCall& call) {
  if (!PageSite::tells(call.path)) return files_.show(call);
  const std::string token = bearer_token(call.authorization);
  if (token.empty())
    return PageSite::refuse(401, "whoever looks shows a bearer token of this cluster",
                            "www-authenticate: Bearer\r\n");
  const ViewerDesk::Standing standing = parts_.ask(token);
  switch (standing.verdict) {
    case Heard::kRefused:
      ++refused_.unknown_total;
      return PageSite::refuse(401, "the cluster does not know this token, or no longer",
                              "www-authenticate: Bearer error=\"invalid_token\"\r\n");
    case Heard::kAsking:
      return PageSite::refuse(503, "the cluster is asked who you are; try again",
                              "retry-after: 1\r\n");
    case Heard::kBusy:
      ++refused_.busy_total;
      return PageSite::refuse(503, "the cluster can't be asked who you are; try again",
                              "retry-after: 3\r\n");
    case Heard::kAdmitted:
      break;
  }
  const std::shared_ptr<Room> room = room_of(standing);
  if (room == nullptr) {
    ++refused_.busy_total;
    return PageSite::refuse(503, "too many people with different rights look at once; try again",
                            "retry-after: 10\r\n");
  }
  HttpResponse response = room->site.show(call);
  if (response.feed != nullptr)
    response.feed = std::make_shared<Visit>(*this, room, token, std::move(response.feed));
  return response;
}

// Each Visit keeps its room open.
PageFacts PagePort::facts() const {
  PageFacts facts = refused_;
  for (const auto& [rights, room] : rooms_)
    facts.followers += static_cast<double>(room.use_count() - 1);
  return facts;
}

std::shared_ptr<PagePort::Room> PagePort::room_of(const ViewerDesk::Standing& viewer) {
  auto found = rooms_.find(*viewer.rights);
  if (found == rooms_.end()) {
    if (rooms_.size() >= kMostRooms && !close_one_for(viewer)) return nullptr;
    found =
        rooms_
            .emplace(*viewer.rights, std::make_shared<Room>(
                                         *this, viewer, fmt::format("{}.{}", parts_.era, ++made_)))
            .first;
  }
  found->second->used = parts_.now();
  return found->second;
}

// Closes a room without followers first. Otherwise it closes a room of the party with most rooms,
// if that party has more than the new viewer's. For a new viewer who may list pods everywhere, it
// may also close a room of a viewer who may not. Among several it closes the room that was used
// longest ago.
bool PagePort::close_one_for(const ViewerDesk::Standing& viewer) {
  std::map<std::string, int> held;
  for (const auto& [rights, room] : rooms_) ++held[room->party];
  const auto most = std::ranges::max_element(held, {}, [](const auto& one) { return one.second; });
  const bool unequal = most->second > held[viewer.party] + 1;
  const bool sees_all = viewer.rights->everywhere("pods");
  const auto rank = [&](const Room& room, bool followed) {
    if (!followed) return 0;
    if (unequal && room.party == most->first) return 1;
    return sees_all && !room.rights.everywhere("pods") ? 2 : 3;
  };
  const auto order = [&](const auto& one) {
    return std::pair(rank(*one.second, one.second.use_count() > 1), one.second->used);
  };
  const auto first = std::ranges::min_element(rooms_, {}, order);
  if (order(*first).first == 3) return false;
  first->second->closed = true;
  rooms_.erase(first);
  return true;
}

std::optional<PageState> PagePort::state_in(const Room& room) {
  const Moment began = parts_.now();
  const std::optional<Snapshot> snapshot = parts_.snapshot();
  if (!snapshot || !share_.begin(&room, began)) return std::nullopt;
  PageState state = page_state(*snapshot, room.rights);
  share_.end(began, parts_.now());
  return state;
}

Result<std::string> PagePort::why_in(const Room& room, const std::string& subject) {
  const Moment began = parts_.now();
  const std::optional<Snapshot> snapshot = parts_.snapshot();
  if (!snapshot || !share_.begin(&room.site, began))
    return Error{.kind = ErrorKind::kUnavailable,
                 .message = "others are told something just now; try again"};
  Result<std::string> said = page_why(*snapshot, room.rights, subject);
  share_.end(began, parts_.now());
  return said;
}

}  // namespace berth
