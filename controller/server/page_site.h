// SPDX-License-Identifier: Apache-2.0
// PageSite: the page over HTTP: its files, the state it shows, what changes of it, and why
// something is as it is. Read-only. To people on this machine it answers only where a browser has
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

  // To people on this machine.
  HttpResponse answer(const HttpCall& call);
  // To whom somebody else has let in, by whatever name he calls.
  HttpResponse show(const HttpCall& call);
  // Whether what is answered there tells of the cluster: all else is the same for everybody.
  static bool tells(std::string_view path);
  // With the guards of every answer; `head` is more lines of its head.
  static HttpResponse refuse(int status, std::string why, std::string_view head);

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

  static const std::map<std::string, Encoded, std::less<>>& files();  // by path

  Sources sources_;
  Encoded document_;  // the last that was asked for
};

// Whether a request's Host names this machine, whatever its port.
bool names_this_machine(std::string_view host);

}  // namespace berth
