// SPDX-License-Identifier: Apache-2.0
// TlsServer: an HTTP/1.1 server over TLS, or without, on loopback, blocking, a thread per
// connection. The handler runs on those threads and writes what it likes, byte for byte.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct ssl_ctx_st;
struct ssl_st;

namespace berth::test {

class TlsServer {
 public:
  struct Options {
    std::string certificate;
    std::string key;
    std::string client_ca;     // not empty: a client certificate from this authority is required
    bool plain = false;        // no TLS at all
    bool names_http1 = false;  // says by ALPN that it speaks HTTP/1.1; else it says nothing
    std::string address = "127.0.0.1";
    int port = 0;  // one that is free
  };
  class Connection {
   public:
    // `ssl` is null where there is no TLS.
    Connection(int fd, ssl_st* ssl, TlsServer& server) : fd_(fd), ssl_(ssl), server_(server) {}
    // False: the client is gone.
    bool send(const std::string& bytes);
    // A whole reply with its length.
    void reply(int status, const std::string& body, const std::string& headers = "");
    // Sleeps, but not past the server's end.
    void pause(std::chrono::milliseconds span);
    std::string client_name() const;  // common name of its certificate

   private:
    friend class TlsServer;
    int read(char* bytes, int most);
    int fd_;
    ssl_st* ssl_;
    TlsServer& server_;
  };
  struct Request {
    std::string line;     // "GET /path HTTP/1.1"
    std::string headers;  // lower-case names, as "name: value\n"
    std::string body;
  };
  // False: close the connection.
  using Handler = std::function<bool(const Request&, Connection&)>;

  TlsServer(Options options, Handler handler);
  ~TlsServer();
  int port() const { return port_; }
  int connections() const { return accepted_; }

 private:
  void accept_all();
  void serve(int fd);

  Handler handler_;
  const bool plain_;
  ssl_ctx_st* context_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::list<int> open_;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

}  // namespace berth::test
