// SPDX-License-Identifier: Apache-2.0
// HttpFeed: a response that continues as long as its client stays, mainly for server-sent events.
// As with any response, the server closes the connection of a client that reads too slowly.
#pragma once

#include <string>

namespace berth {

class HttpFeed {
 public:
  virtual ~HttpFeed() = default;
  // Appends new output, or nothing. Called on the loop thread several times a second, once the
  // client has read all earlier output.
  virtual void next(std::string& out) = 0;
  // No more output: the connection ends once the client has read everything.
  virtual bool over() const { return false; }
};

}  // namespace berth
