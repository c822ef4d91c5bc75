// SPDX-License-Identifier: Apache-2.0
// HTTP/2, spoken by nghttp2: frames, flow control, and what a hostile client may not do. A stream
// is judged by its head as a request of HTTP/1.1 is, and one that is refused does not end the
// others.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "controller/server/http_protocol.h"

namespace berth {
namespace {

constexpr std::uint32_t kMaxStreams = 128;
// A body may be on its way whole; what all of them hold is PostRoom's to say.
constexpr std::int32_t kStreamWindow = 1 << 20, kConnectionWindow = 4 << 20;

// Answers that a connection's client has not taken; while there are more, it gets no other.
constexpr std::size_t kEnoughUntaken = 1 << 20;

// Frames that ask for nothing, between two requests; and of a head what it takes to see that it is
// far too large, as the table lets a byte stand for a long field. Then the connection ends.
constexpr int kEnoughControl = 1000;
constexpr int kHeadsInOne = 16;

struct Stream {
  std::uint64_t began_ms = 0;
  std::uint64_t heard_ms = 0;
  std::string method, target, content_type;
  std::optional<std::uint64_t> length;
  std::size_t head_bytes = 0;
  bool whole = false;    // all of it came
  bool refused = false;  // what still comes of it is dropped
  std::unique_ptr<PostRoom::Place> place;
  std::string body;
  std::string response;
  std::size_t sent = 0;
};

std::string_view text(const std::uint8_t* data, std::size_t length) {
  return {reinterpret_cast<const char*>(data), length};
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view of) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(of.data()));  // only read
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

class Http2 final : public HttpProtocol {
 public:
  explicit Http2(const HttpService& service) : service_(service) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const std::array<nghttp2_settings_entry, 3> settings{
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
          static_cast<std::uint32_t>(service.limits.header_bytes)}}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;
  ~Http2() override { nghttp2_session_del(session_); }

  void take(std::string_view bytes, std::uint64_t now_ms, std::string& out) override {
    now_ms_ = now_ms;
    if (nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                 bytes.size()) < 0)
      broken_ = true;
    send(out);
  }
  void resume(std::uint64_t now_ms, std::string& out) override {
    now_ms_ = now_ms;
    for (auto& [id, stream] : streams_)
      if (!stream.whole && !stream.refused && service_.stands_still(stream.heard_ms, now_ms)) {
        refuse(id, stream, service_.refusal(408));
        stream.place.reset();
      }
    send(out);
  }
  // First that streams should go elsewhere, then, once the client must have read that, which was
  // the last to be served: what was on its way in between is served too.
  void take_leave(std::string& out) override {
    leaving_ = true;
    nghttp2_submit_shutdown_notice(session_);
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    send(out);
  }
  bool over() const override {
    return broken_ ||
           (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
  }
  std::optional<std::uint64_t> busy_since_ms() const override {
    return streams_.empty() ? std::nullopt : std::optional(streams_.begin()->second.began_ms);
  }
  std::optional<std::uint64_t> answered_ms() const override { return answered_ms_; }

 private:
  static Http2& self(void* user) { return *static_cast<Http2*>(user); }
  Stream* find(std::int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }

  void send(std::string& out) {
    while (!broken_ && out.size() < kEnoughToSend) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) broken_ = true;
      if (size <= 0) return;
      out.append(text(data, static_cast<std::size_t>(size)));
    }
  }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Stream& stream = self(user).streams_[frame->hd.stream_id];
    stream.began_ms = stream.heard_ms = self(user).now_ms_;
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name_data,
                       std::size_t name_size, const std::uint8_t* data, std::size_t size,
                       std::uint8_t, void* user) {
    Stream* const stream = self(user).find(frame->hd.stream_id);
    if (stream == nullptr || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    const std::string_view name = text(name_data, name_size), value = text(data, size);
    stream->head_bytes += name.size() + value.size() + 32;  // as SETTINGS_MAX_HEADER_LIST_SIZE
    const auto most = static_cast<std::size_t>(self(user).service_.limits.header_bytes);
    if (stream->head_bytes > kHeadsInOne * most) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (stream->head_bytes > most) return 0;  // refused when it is whole
    if (name == ":method") stream->method = value;
    if (name == ":path") stream->target = value;
    if (name == "content-type") stream->content_type = value;
    if (name == "content-length") {  // nghttp2 lets digits through only
      std::uint64_t length = 0;
      std::from_chars(value.data(), value.data() + value.size(), length);
      stream->length = length;
    }
    return 0;
  }

  // nghttp2 ends a stream whose data and content-length disagree.
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* user) {
    Stream* const stream = self(user).find(id);
    if (stream == nullptr || stream->refused) return 0;
    stream->heard_ms = self(user).now_ms_;
    stream->body += text(data, size);
    if (stream->place != nullptr) stream->place->hold(size);  // who loses it is told by on_lost
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 &&
        self(user).leaving_)
      return nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                                   nghttp2_session_get_last_proc_stream_id(session),
                                   NGHTTP2_NO_ERROR, nullptr, 0);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
      return ++self(user).control_ > kEnoughControl
                 ? nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM)
                 : 0;
    self(user).control_ = 0;
    Stream* const stream = self(user).find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const bool whole = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    stream->whole = stream->whole || whole;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      self(user).judge_head(frame->hd.stream_id, *stream, whole);
    if (whole && !stream->refused) self(user).answer(frame->hd.stream_id, *stream);
    return 0;
  }

  void judge_head(std::int32_t id, Stream& stream, bool whole) {
    if (whole && !stream.length) stream.length = 0;
    std::optional<HttpResponse> refusal =
        stream.head_bytes > static_cast<std::size_t>(service_.limits.header_bytes)
            ? service_.refusal(431)
            : service_.admit(
                  stream.method, stream.length,
                  [this, id, &stream] { refuse(id, stream, service_.refusal(429)); }, stream.place);
    if (refusal) refuse(id, stream, std::move(*refusal));
  }

  // Also in the middle of another connection's turn: its own then sends it.
  void refuse(std::int32_t id, Stream& stream, HttpResponse why) {
    stream.refused = true;
    std::string().swap(stream.body);
    respond(id, stream, std::move(why));
  }

  void answer(std::int32_t id, Stream& stream) {
    if (untaken_ > kEnoughUntaken) {
      refuse(id, stream, service_.refusal(429));
    } else {
      HttpCall call{
          .method = stream.method, .content_type = stream.content_type, .body = stream.body};
      set_target(call, stream.target);
      respond(id, stream, service_.handler(call));
      answered_ms_ = now_ms_;
      std::string().swap(stream.body);
    }
    stream.place.reset();
  }

  void respond(std::int32_t id, Stream& stream, HttpResponse response) {
    const std::string status = std::to_string(response.status);
    const std::string length = std::to_string(response.body.size());
    const std::array<nghttp2_nv, 3> head{field(":status", status),
                                         field("content-type", response.content_type),
                                         field("content-length", length)};
    stream.response = std::move(response.body);
    untaken_ += stream.response.size();
    nghttp2_data_provider body{.source = {.ptr = &stream}, .read_callback = read_response};
    const bool head_only = stream.method == "HEAD" || stream.response.empty();
    nghttp2_submit_response(session_, id, head.data(), head.size(), head_only ? nullptr : &body);
  }

  static ssize_t read_response(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t room,
                               std::uint32_t* flags, nghttp2_data_source* source, void*) {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const std::size_t size = std::min(room, stream.response.size() - stream.sent);
    std::copy_n(stream.response.data() + stream.sent, size, into);
    stream.sent += size;
    if (stream.sent == stream.response.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  // Who was refused in the middle of a body is asked to stop sending it, after the answer.
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void*) {
    const std::int32_t id = frame->hd.stream_id;
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
        nghttp2_session_get_stream_remote_close(session, id) == 0)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    return 0;
  }

  static int on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    if (const Stream* const gone = self(user).find(id); gone != nullptr)
      self(user).untaken_ -= gone->response.size();
    self(user).streams_.erase(id);
    return 0;
  }

  const HttpService& service_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;  // ids go up: the first is the oldest
  std::size_t untaken_ = 0;                 // bytes of their answers
  int control_ = 0;                         // frames since the last that was part of a request
  std::uint64_t now_ms_ = 0;
  std::optional<std::uint64_t> answered_ms_;
  bool leaving_ = false;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<HttpProtocol> speak_http2(const HttpService& service) {
  return std::make_unique<Http2>(service);
}

}  // namespace berth
