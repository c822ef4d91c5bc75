// SPDX-License-Identifier: Apache-2.0
// PageSite: the page over HTTP, to people on this machine: its files, the state it shows, what
// changes of it, and why something is as it is. Read-only, and answered only where a browser has
// asked for a name of this machine: a foreign name that somebody lets point here is refused, and
// with it the scripts that he has loaded from there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apis/result.h"
#include "controller/server/http_feed.h"
#include "controller/server/http_server.h"

namespace berth {

// What the page shows.
struct PageDocument {
  std::string id;  // of this very text
  std::string json;
};

class PageSite {
 public:
  struct Sources {
    // None: it is not known yet. The document outlives the call.
    std::function<const PageDocument*()> document;
    // What comes after the state with that id, which may be anything; null: nothing ever does.
    std::function<std::shared_ptr<HttpFeed>(std::string_view since)> follow;
    // Of a subject as `berth why` takes it; null: that is all in the document.
    std::function<Result<std::string>(const std::string& subject)> why;
  };
  explicit PageSite(Sources sources);

  HttpResponse answer(const HttpCall& call);

 private:
  // A text both ways, as clients may have it.
  struct Encoded {
    std::string etag;  // in its quotes
    std::string content_type;
    std::string plain;
    std::string gzipped;
  };
  static HttpResponse send(const HttpCall& call, const Encoded& what);
  HttpResponse send_document(const HttpCall& call);
  HttpResponse send_events(const HttpCall& call);
  HttpResponse send_why(const HttpCall& call);

  Sources sources_;
  std::map<std::string, Encoded, std::less<>> files_;  // by path
  Encoded document_;                                   // the last that was asked for
};

// Whether a request's Host names this machine, whatever its port.
bool names_this_machine(std::string_view host);

}  // namespace berth
