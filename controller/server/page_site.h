// SPDX-License-Identifier: Apache-2.0
// PageSite: the page over HTTP: its files, its state, changes of the state, and explanations.
// Read-only. On a local port it answers only if the request's Host names this machine. Otherwise a
// foreign website could resolve its own name to this machine and read the page with its scripts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "controller/server/http_feed.h"
#include "controller/server/http_server.h"

namespace berth {

// The state that the page shows.
struct PageDocument {
  std::string id;  // identifies this text
  std::string json;
};

class PageSite {
 public:
  struct Sources {
    // Null: not known yet. The document must outlive the call.
    std::function<const PageDocument*()> document;
    // The changes after the state with that id, which may be any text; null: there are never any.
    std::function<std::shared_ptr<HttpFeed>(std::string_view since)> follow;
    // Explains a subject as `berth why` names it; null: no explanations.
    std::function<Result<std::string>(const std::string& subject)> why;
  };
  explicit PageSite(Sources sources);

  // For users on this machine.
  HttpResponse answer(const HttpCall& call);
  // For viewers that the caller has authorized; accepts any Host.
  HttpResponse show(const HttpCall& call);
  // Whether the path shows facts about the cluster. All other paths are the same for everyone.
  static bool tells(std::string_view path);
  // With the security headers of every answer; `head` has further headers.
  static HttpResponse refuse(int status, std::string why, std::string_view head);

 private:
  // A text in both encodings.
  struct Encoded {
    std::string etag;  // with its quotes
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
  Encoded document_;  // the last one that was requested
};

// Whether a request's Host names this machine, whatever its port.
bool names_this_machine(std::string_view host);

}  // namespace berth
