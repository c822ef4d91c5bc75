// SPDX-License-Identifier: Apache-2.0
// HttpFeed: a response that goes on for as long as its client stays, server-sent events above all.
// A client that takes too long over what it was sent is cut off, as with any response.
#pragma once

#include <string>

namespace berth {

class HttpFeed {
 public:
  virtual ~HttpFeed() = default;
  // Appends what comes next, nothing if there is nothing yet. Asked on the loop's thread, when the
  // client has taken everything so far, and a few times a second.
  virtual void next(std::string& out) = 0;
  // Nothing comes any more: the connection ends once the client has what was appended.
  virtual bool over() const { return false; }
};

}  // namespace berth
