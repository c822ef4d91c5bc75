// SPDX-License-Identifier: Apache-2.0
// TlsSession: the server's side of one TLS connection, as bytes: decrypts input and encrypts
// output. The caller does the network I/O.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

struct bio_method_st;
struct bio_st;
struct ssl_st;

namespace berth {

class TlsContext;

class TlsSession {
 public:
  explicit TlsSession(const TlsContext& context);
  TlsSession(const TlsSession&) = delete;
  ~TlsSession();

  static constexpr std::size_t kRecordBytes = 16 << 10;
  // Takes input and calls `heard` with each decrypted piece, which is in `plain` (of kRecordBytes).
  // False: the handshake failed, the client broke the protocol, or it closed the connection. Output
  // in outgoing() may still be sent.
  bool take(std::string_view came, char* plain, const std::function<void(std::string_view)>& heard);
  bool handshaken() const;
  void say(std::string_view text);
  void take_leave();

  // Bytes to send; the caller empties it.
  std::string& outgoing() { return outgoing_; }

 private:
  static const bio_method_st* carrier();
  static int read(bio_st* bio, char* into, int size);
  static int write(bio_st* bio, const char* from, int size);
  static long control(bio_st* bio, int command, long, void*);

  ssl_st* const ssl_;
  std::string_view came_;  // during take() only
  std::string outgoing_;
};

}  // namespace berth
