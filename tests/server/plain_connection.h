// SPDX-License-Identifier: Apache-2.0
// Connection: a client's socket to a port of loopback, without TLS, for what libcurl would not say.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace berth {

class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    be_patient_for(10);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }
  Connection(const Connection&) = delete;
  ~Connection() { close(fd_); }

  bool send(const std::string& text) {
    return connected_ &&
           ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void end_sending() { shutdown(fd_, SHUT_WR); }
  // Head and body of one response; what came so far if the peer closes or is silent for so long.
  std::string receive(int patience_seconds = 10) {
    be_patient_for(patience_seconds);
    std::string text;
    while (true) {
      const std::size_t end = text.find("\r\n\r\n");
      if (end != std::string::npos) {
        const std::size_t at = text.find("content-length: ");
        const std::size_t size = at > end ? 0 : std::stoul(text.substr(at + 16));
        if (text.size() >= end + 4 + size) return text;
      }
      char buffer[4096];
      const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
      if (got <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  // What comes up to these words, and with them; what came so far if the peer closes or is silent.
  std::string receive_until(const std::string& words) {
    std::string text = std::exchange(ahead_, {});
    for (std::size_t searched = 0;;) {
      const std::size_t at = text.find(words, searched);
      if (at != std::string::npos) {
        ahead_ = text.substr(at + words.size());
        text.resize(at + words.size());
        return text;
      }
      searched = text.size() < words.size() ? 0 : text.size() - words.size();
      char buffer[65536];
      const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
      if (got <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  // How many bytes there were to be taken; none: the peer has closed, or is silent.
  std::size_t receive_some() {
    char buffer[65536];
    const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  bool closed_by_peer() {
    char byte;
    const ssize_t got = recv(fd_, &byte, 1, 0);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

 private:
  void be_patient_for(int seconds) {
    const timeval limit{.tv_sec = seconds, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  int fd_;
  bool connected_ = false;
  std::string ahead_;  // came behind the words of receive_until()
};

}  // namespace berth
