// SPDX-License-Identifier: Apache-2.0
// Served: a service that answers with what it was asked, within small limits.
#pragma once

#include <string>

#include "controller/server/http_protocol.h"

namespace berth {

struct Served {
  HttpServerLimits limits = {.header_bytes = 400, .posts = 2, .posted_bytes = 300};
  PostRoom room{limits.posts, limits.posted_bytes};
  bool draining = false;
  std::size_t answer_bytes = 0;  // of an answer, if it is not what was asked
  int calls = 0;
  HttpService service{.handler = [this](const HttpCall& call) { return answer(call); },
                      .max_body_bytes = 100,
                      .limits = limits,
                      .room = room,
                      .draining = draining};

 private:
  HttpResponse answer(const HttpCall& call) {
    ++calls;
    HttpResponse response;
    response.body.assign(answer_bytes, 'x');
    if (answer_bytes == 0)
      for (const std::string_view part :
           {call.method, call.path, call.query, call.content_type, call.body})
        response.body.append(response.body.empty() ? "" : " ").append(part);
    return response;
  }
};

}  // namespace berth
