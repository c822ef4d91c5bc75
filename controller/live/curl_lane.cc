// SPDX-License-Identifier: Apache-2.0
#include "controller/live/curl_lane.h"

#include <utility>

namespace berth {

CurlLane::CurlLane(UvLoop& loop) : loop_(loop), multi_(curl_multi_init()) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLane::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLane::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
}

CurlLane::~CurlLane() {
  curl_multi_cleanup(multi_);  // closes idle connections, which also removes their polls
  loop_.cancel(timer_);
}

void CurlLane::add(CURL* easy, std::function<void(CURLcode)> done) {
  done_.emplace(easy, std::move(done));
  curl_multi_add_handle(multi_, easy);  // sets the timer, which starts the transfer
}

void CurlLane::remove(CURL* easy) {
  if (done_.erase(easy) > 0) curl_multi_remove_handle(multi_, easy);
}

int CurlLane::on_socket(CURL*, curl_socket_t socket, int what, void* lane, void* poll) {
  static_cast<CurlLane*>(lane)->watch_socket(socket, what, static_cast<Poll*>(poll));
  return 0;
}

void CurlLane::watch_socket(curl_socket_t socket, int what, Poll* poll) {
  if (what == CURL_POLL_REMOVE) {
    if (poll == nullptr) return;
    curl_multi_assign(multi_, socket, nullptr);
    uv_poll_stop(&poll->handle);  // now: curl closes the socket next; memory is freed later
    uv_close(reinterpret_cast<uv_handle_t*>(&poll->handle),
             [](uv_handle_t* handle) { delete static_cast<Poll*>(handle->data); });
    return;
  }
  if (poll == nullptr) {
    poll = new Poll{{}, socket, this};  // the uv_close() above frees it
    poll->handle.data = poll;
    if (uv_poll_init_socket(loop_.raw(), &poll->handle, socket) != 0) {
      delete poll;
      return;
    }
    curl_multi_assign(multi_, socket, poll);
  }
  int events = 0;
  if (what != CURL_POLL_OUT) events |= UV_READABLE;
  if (what != CURL_POLL_IN) events |= UV_WRITABLE;
  uv_poll_start(&poll->handle, events, [](uv_poll_t* handle, int status, int seen) {
    const Poll* self = static_cast<Poll*>(handle->data);
    int action = status < 0 ? CURL_CSELECT_ERR : 0;
    if (seen & UV_READABLE) action |= CURL_CSELECT_IN;
    if (seen & UV_WRITABLE) action |= CURL_CSELECT_OUT;
    self->lane->act(self->socket, action);  // may free self
  });
}

int CurlLane::on_timer(CURLM*, long timeout_ms, void* data) {
  auto* lane = static_cast<CurlLane*>(data);
  lane->loop_.cancel(std::exchange(lane->timer_, 0));
  if (timeout_ms < 0) return 0;
  lane->timer_ = lane->loop_.call_after(std::chrono::milliseconds(timeout_ms), [lane] {
    lane->timer_ = 0;
    lane->act(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void CurlLane::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  collect();
}

void CurlLane::collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode result = message->data.result;  // the removal frees the message
    auto node = done_.extract(easy);
    curl_multi_remove_handle(multi_, easy);
    if (node.empty()) continue;
    loop_.post([done = std::move(node.mapped()), result] { done(result); });
  }
}

}  // namespace berth
