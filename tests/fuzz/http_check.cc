// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "controller/server/http_protocol.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

constexpr std::size_t kMaxBody = 100, kRoom = 300;

struct Said {
  std::string out;
  std::vector<std::string> calls;  // the calls of the service
  std::string wrong;
};

Said say(std::string_view rest, std::size_t piece) {
  Said said;
  const HttpServerLimits limits{.header_bytes = 400, .posts = 2, .posted_bytes = kRoom};
  PostRoom room(limits.posts, limits.posted_bytes);
  const bool draining = false;
  const HttpService service{
      .handler =
          [&](const HttpCall& call) {
            std::string line(call.method);
            for (std::string_view part : {call.path, call.query, call.content_type, call.body})
              line.append(" ").append(part);
            said.calls.push_back(std::move(line));
            if (call.body.size() > kMaxBody) said.wrong = "a body beyond the limit was let through";
            return HttpResponse{.body = std::string(call.body)};
          },
      .max_body_bytes = kMaxBody,
      .limits = limits,
      .room = room,
      .draining = draining};
  {
    const auto protocol = speak_http1(service);
    std::string out;
    const auto hear = [&](std::string_view what) {
      protocol->take(what, 0, out);
      while (!out.empty()) {
        said.out += std::exchange(out, {});
        protocol->resume(0, out);
      }
    };
    for (; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
      hear(rest.substr(0, piece));
  }
  if (!room.empty()) said.wrong = "the room of a POST was not given back";
  return said;
}

std::string joined(const std::vector<std::string>& calls) {
  std::string all;
  for (const std::string& call : calls) all += "\n  " + call;
  return all;
}

}  // namespace

Verdict check_http1(std::string_view input) {
  if (input.empty()) return {};
  const std::string_view rest = input.substr(1);
  const Said whole = say(rest, rest.size() + 1);
  const Said pieces = say(rest, 1 + static_cast<unsigned char>(input[0]));
  Verdict verdict{whole.wrong + pieces.wrong, !whole.calls.empty()};
  if (!whole.out.empty() && !whole.out.starts_with("HTTP/1.1 "))
    verdict.wrong = "not HTTP: " + whole.out;
  // Only the time of detection of an invalid request depends on the pieces.
  if (whole.calls != pieces.calls)
    verdict.wrong = "whole:" + joined(whole.calls) + "\nin pieces:" + joined(pieces.calls);
  return verdict;
}

}  // namespace berth::test
