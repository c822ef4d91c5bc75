// SPDX-License-Identifier: Apache-2.0
// HTTP/2 as bytes in and bytes out, spoken to by nghttp2's client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/server/served.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

struct Response {
  std::string status, body;
  bool closed = false;
  std::uint32_t error = NGHTTP2_NO_ERROR;
};

// A client, and the server it speaks to.
class Client {
 public:
  explicit Client(const HttpService& service) : server_(speak_http2(service)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks,
        [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t,
           const std::uint8_t* value, std::size_t size, std::uint8_t, void* user) {
          if (*name == ':') self(user).of(frame->hd.stream_id).status.assign(value, value + size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                      std::size_t size, void* user) {
          self(user).of(id).body.append(data, data + size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
          self(user).of(id).closed = true;
          self(user).of(id).error = error;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_GOAWAY)
            self(user).last_served.push_back(frame->goaway.last_stream_id);
          return 0;
        });
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
    server_->resume(0, from_server_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { nghttp2_session_del(session_); }

  using Headers = std::vector<std::pair<std::string, std::string>>;
  // Returns the stream. `body` comes after the head, in a frame of its own, and ends the request if
  // `whole`; without one the head does.
  std::int32_t ask(const char* method, const char* path, Headers more = {},
                   const std::string* body = nullptr, bool whole = true) {
    Headers all = {{":method", method}, {":path", path}, {":scheme", "https"}, {":authority", "h"}};
    all.insert(all.end(), more.begin(), more.end());
    std::vector<nghttp2_nv> fields;
    for (auto& [name, value] : all)
      fields.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                        reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                        NGHTTP2_NV_FLAG_NONE});
    if (body == nullptr)
      return nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), nullptr,
                                    nullptr);
    sending_.push_back(std::make_unique<Sending>(Sending{*body, whole}));
    nghttp2_data_provider provider{.source = {.ptr = sending_.back().get()},
                                   .read_callback = read_body};
    return nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &provider,
                                  nullptr);
  }
  std::int32_t post(const std::string& body) {
    return ask("POST", "/p", {{"content-length", std::to_string(body.size())}}, &body);
  }

  // Until both have nothing more to say, in pieces of so many bytes.
  void talk(std::size_t piece = 1 << 20, std::uint64_t now_ms = 0) {
    while (true) {
      std::string to_server;
      const std::uint8_t* data = nullptr;
      while (true) {
        const ssize_t size = nghttp2_session_mem_send(session_, &data);
        if (size <= 0) break;
        to_server.append(data, data + size);
      }
      for (std::size_t at = 0; at < to_server.size(); at += piece)
        server_->take(std::string_view(to_server).substr(at, piece), now_ms, from_server_);
      server_->resume(now_ms, from_server_);
      const std::string said = std::exchange(from_server_, {});
      if (said.empty() && to_server.empty()) return;
      ASSERT_EQ(nghttp2_session_mem_recv(
                    session_, reinterpret_cast<const std::uint8_t*>(said.data()), said.size()),
                static_cast<ssize_t>(said.size()));
    }
  }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void close_window() {
    const nghttp2_settings_entry none{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &none, 1);
  }
  HttpProtocol& server() { return *server_; }
  void server_takes_leave() { server_->take_leave(from_server_); }
  Response& of(std::int32_t id) { return responses_[id]; }

  std::vector<std::int32_t> last_served;  // of each GOAWAY

 private:
  struct Sending {
    std::string rest;
    bool whole;
  };
  static Client& self(void* user) { return *static_cast<Client*>(user); }
  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t room,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& sending = *static_cast<Sending*>(source->ptr);
    if (sending.rest.empty() && !sending.whole) return NGHTTP2_ERR_DEFERRED;
    const std::size_t size = sending.rest.copy(reinterpret_cast<char*>(into), room);
    sending.rest.erase(0, size);
    if (sending.rest.empty() && sending.whole) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  std::unique_ptr<HttpProtocol> server_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Sending>> sending_;
  std::map<std::int32_t, Response> responses_;
  std::string from_server_;
};

class Http2Test : public ::testing::Test {
 protected:
  Served served_;
};

TEST_F(Http2Test, StreamsAreAnsweredInWhicheverPiecesTheyCome) {
  for (const std::size_t piece : {1u, 3u, 100u, 1u << 20}) {
    Client client(served_.service);
    const std::int32_t get = client.ask("GET", "/a?x=1");
    const std::int32_t head = client.ask("HEAD", "/c");
    const std::string text = "hello";
    const std::int32_t post =
        client.ask("POST", "/b", {{"content-type", "text/x"}, {"content-length", "5"}}, &text);
    client.talk(piece);
    EXPECT_EQ(client.of(get).body, "GET /a x=1  ");
    EXPECT_EQ(client.of(post).body, "POST /b  text/x hello");
    EXPECT_EQ(client.of(head).status, "200");
    EXPECT_EQ(client.of(head).body, "");
    for (const std::int32_t stream : {get, head, post}) {
      EXPECT_TRUE(client.of(stream).closed);
      EXPECT_EQ(client.of(stream).error, NGHTTP2_NO_ERROR);
    }
    EXPECT_EQ(client.server().busy_since_ms(), std::nullopt);
    EXPECT_FALSE(client.server().over());
  }
}

TEST_F(Http2Test, WhatIsRefusedIsToldWhyAndOthersGoOn) {
  const std::string long_value(500, 'y'), body(60, 'b'), large(101, 'l');
  Client client(served_.service);
  struct Case {
    std::int32_t stream;
    const char* status;
    const char* why;
  };
  const Case cases[] = {
      {client.ask("PUT", "/", {{"content-length", "60"}}, &body), "405", "GET, HEAD or POST"},
      {client.ask("POST", "/", {}, &body), "411", "needs a Content-Length"},
      {client.post(large), "413", "a body may have 100 bytes"},
      {client.ask("GET", "/", {{"x", long_value}}), "431", "head may have 400 bytes"},
      {client.ask("GET", "/", {{"content-length", "60"}}, &body), "400", "not an HTTP request"},
  };
  const std::int32_t well = client.post(body);
  client.talk();
  for (const Case& one : cases) {
    EXPECT_EQ(client.of(one.stream).status, one.status);
    EXPECT_THAT(client.of(one.stream).body, HasSubstr(one.why));
    EXPECT_TRUE(client.of(one.stream).closed);
    EXPECT_EQ(client.of(one.stream).error, NGHTTP2_NO_ERROR);
  }
  EXPECT_EQ(client.of(well).status, "200");
  EXPECT_FALSE(client.server().over());
}

// A body that goes on coming on a stream that was refused by its head.
TEST_F(Http2Test, ARefusedBodyThatGoesOnComingHurtsNobody) {
  Client client(served_.service);
  const std::string begun(40, 'b');
  const std::int32_t refused = client.ask("POST", "/", {{"content-length", "5000"}}, &begun, false);
  client.talk(1);
  EXPECT_EQ(client.of(refused).status, "413");
  EXPECT_TRUE(client.of(refused).closed);
  const std::int32_t next = client.post("next");
  client.talk(1);
  EXPECT_EQ(client.of(next).body, "POST /p   next");
}

TEST_F(Http2Test, AnnouncedLengthsTakeNoRoomAndWhoIsOldestMakesIt) {
  const std::string part(40, 'b'), more(90, 'm');
  Client slow(served_.service);
  const std::int32_t first =
      slow.ask("POST", "/", {{"content-length", "100"}}, &part, /*whole=*/false);
  const std::int32_t second =
      slow.ask("POST", "/", {{"content-length", "100"}}, &more, /*whole=*/false);
  slow.talk();
  EXPECT_NE(slow.server().busy_since_ms(), std::nullopt);
  Client quick(served_.service);
  const std::int32_t third = quick.post("x");  // where two may be
  quick.talk();
  EXPECT_EQ(quick.of(third).status, "200");
  slow.talk();
  EXPECT_EQ(slow.of(first).status, "429");
  EXPECT_FALSE(slow.of(second).closed);
  const std::int32_t large = quick.post(std::string(70, 'l'));  // of 150 bytes, 90 are held
  quick.talk();
  EXPECT_EQ(quick.of(large).status, "200");
  slow.talk();
  EXPECT_EQ(slow.of(second).status, "429");
  EXPECT_FALSE(slow.server().over());
}

TEST_F(Http2Test, WhoLeavesGivesItsPlacesBack) {
  const std::string part(40, 'b');
  {
    Client slow(served_.service);
    for (int i = 0; i < 2; ++i) slow.ask("POST", "/", {{"content-length", "70"}}, &part, false);
    slow.talk();
    EXPECT_FALSE(served_.room.empty());
  }
  EXPECT_TRUE(served_.room.empty());
}

TEST_F(Http2Test, WhoSaysMuchAndAsksNothingIsCut) {
  Client calm(served_.service), loud(served_.service);
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 100; ++k) calm.ping();
    calm.ask("GET", "/");
    calm.talk();
  }
  EXPECT_FALSE(calm.server().over());
  for (int i = 0; i < 20 && !loud.server().over(); ++i) {
    for (int k = 0; k < 100; ++k) loud.ping();
    loud.talk();
  }
  EXPECT_TRUE(loud.server().over());
}

TEST_F(Http2Test, AHeadFarTooLargeEndsTheConnection) {
  Client client(served_.service);
  client.ask("GET", "/", {{"x", std::string(7000, 'y')}});
  client.talk();
  EXPECT_TRUE(client.server().over());
}

TEST_F(Http2Test, AStreamThatStandsStillIsToldSoAndOthersGoOn) {
  const std::string part(40, 'b');
  Client client(served_.service);
  const std::int32_t still = client.ask("POST", "/", {{"content-length", "70"}}, &part, false);
  client.talk(1 << 20, 1000);
  client.talk(1 << 20, 4000);
  EXPECT_FALSE(client.of(still).closed);
  client.talk(1 << 20, 4001);
  EXPECT_EQ(client.of(still).status, "408");
  EXPECT_TRUE(served_.room.empty());
  const std::int32_t next = client.post("next");
  client.talk(1 << 20, 4002);
  EXPECT_EQ(client.of(next).status, "200");
}

TEST_F(Http2Test, OnlyAnAnswerCountsAsOne) {
  Client client(served_.service);
  client.ping();
  client.talk(1 << 20, 1000);
  EXPECT_EQ(client.server().answered_ms(), std::nullopt);
  client.ask("GET", "/");
  client.talk(1 << 20, 2000);
  client.ping();
  client.talk(1 << 20, 3000);
  EXPECT_EQ(client.server().answered_ms(), 2000);
}

// A client that opens no window, so that its answers stay here.
TEST_F(Http2Test, WhoDoesNotTakeItsAnswersGetsNoMoreOfThem) {
  served_.answer_bytes = 300'000;
  Client client(served_.service);
  client.close_window();
  client.talk();
  for (int i = 0; i < 20; ++i) client.ask("GET", "/large");
  client.talk();
  EXPECT_EQ(served_.calls, 4) << "a MiB and one more";
}

TEST_F(Http2Test, ALargeAnswerWaitsForItsClient) {
  served_.answer_bytes = 1'000'000;
  Client client(served_.service);
  const std::int32_t stream = client.ask("GET", "/large");
  client.talk();
  EXPECT_EQ(client.of(stream).body.size(), 1'000'000u);
}

TEST_F(Http2Test, WhoTakesLeaveServesWhatWasOnItsWay) {
  for (const bool slowly : {false, true}) {
    Client client(served_.service);
    const std::string begun = "b";
    if (slowly) client.ask("POST", "/p", {{"content-length", "9"}}, &begun, false);
    client.talk();
    client.server_takes_leave();
    const std::int32_t late = client.ask("GET", "/b");  // before the client can have heard
    client.talk();
    EXPECT_EQ(client.of(late).status, "200");
    EXPECT_EQ(client.server().over(), !slowly);
    // With no stream left, nghttp2's client reads no further than the first.
    EXPECT_EQ(client.last_served, slowly ? std::vector<std::int32_t>({0x7fffffff, late})
                                         : std::vector<std::int32_t>({0x7fffffff}));
  }
}

TEST_F(Http2Test, WhatIsNoHttp2EndsTheConnection) {
  for (const char* said :
       {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"}) {
    const auto protocol = speak_http2(served_.service);
    std::string out;
    protocol->take(said, 0, out);
    EXPECT_TRUE(protocol->over()) << said;
  }
}

}  // namespace
}  // namespace berth
