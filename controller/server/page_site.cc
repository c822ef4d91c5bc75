// SPDX-License-Identifier: Apache-2.0
#include "controller/server/page_site.h"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <utility>

#include "controller/core/gzip.h"
#include "controller/page/page.h"

namespace berth {
namespace {

constexpr std::string_view kRoot = "/ui/";
constexpr std::string_view kState = "/ui/state", kEvents = "/ui/events", kWhy = "/ui/why";
constexpr std::string_view kJson = "application/json; charset=utf-8";
// For every answer: the page loads only its own files, no site may frame it, and no other site may
// read it.
constexpr std::string_view kGuards =
    "content-security-policy: default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "x-content-type-options: nosniff\r\n"
    "referrer-policy: no-referrer\r\n"
    "cross-origin-resource-policy: same-origin\r\n";

HttpResponse told(int status, std::string body) {
  return {.status = status, .body = std::move(body), .head = std::string(kGuards)};
}

std::string tag_of(std::string_view bytes) {
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  return fmt::format("\"{:08x}-{:x}\"", sum, bytes.size());
}

// Decodes %2F and similar; invalid escapes stay as they are.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const from = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(from, from + 2, value, 16).ptr == from + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// A parameter of "a=1&b=2"; empty: absent.
std::string parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      return decoded(pair.substr(equals + 1));
  }
  return {};
}

}  // namespace

bool names_this_machine(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1) == "[::1]";
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "127.0.0.1" || name == "localhost";
}

PageSite::PageSite(Sources sources) : sources_(std::move(sources)) {}

const std::map<std::string, PageSite::Encoded, std::less<>>& PageSite::files() {
  static const std::map<std::string, Encoded, std::less<>> kFiles = [] {
    std::map<std::string, Encoded, std::less<>> all;
    for (const PageFile& file : page_files())
      all[fmt::format("{}{}", kRoot, file.name)] = {.etag = tag_of(file.text),
                                                    .content_type = std::string(file.content_type),
                                                    .plain = file.text,
                                                    .gzipped = gzip(file.text)};
    return all;
  }();
  return kFiles;
}

bool PageSite::tells(std::string_view path) {
  return path == kState || path == kEvents || path == kWhy;
}

HttpResponse PageSite::refuse(int status, std::string why, std::string_view head) {
  HttpResponse response = told(status, std::move(why) + "\n");
  response.head.append("cache-control: no-store\r\n").append(head);
  return response;
}

HttpResponse PageSite::answer(const HttpCall& call) {
  if (!names_this_machine(call.host))
    return told(421, "this page is shown to 127.0.0.1, [::1] and localhost only\n");
  return show(call);
}

HttpResponse PageSite::show(const HttpCall& call) {
  if (call.path == "/" || call.path == "/ui") {
    HttpResponse response = told(307, "the page is at /ui/\n");
    response.head += fmt::format("location: {}\r\n", kRoot);
    return response;
  }
  if (call.path == kState) return send_document(call);
  if (call.path == kEvents) return send_events(call);
  if (call.path == kWhy) return send_why(call);
  const auto file = files().find(call.path);
  if (file != files().end()) return send(call, file->second);
  return told(404, "not found; the page is at /ui/\n");
}

HttpResponse PageSite::send(const HttpCall& call, const Encoded& what) {
  HttpResponse response = told(200, "");
  response.content_type = what.content_type;
  // Viewers have different rights, so no proxy may cache the answer.
  response.head += fmt::format(
      "etag: {}\r\ncache-control: private, no-cache\r\nvary: accept-encoding, authorization\r\n",
      what.etag);
  if (call.if_none_match.find(what.etag) != std::string_view::npos) {
    response.status = 304;
    return response;
  }
  const bool small = accepts_gzip(call.accept_encoding);
  if (small) response.head += "content-encoding: gzip\r\n";
  response.body = small ? what.gzipped : what.plain;
  return response;
}

HttpResponse PageSite::send_document(const HttpCall& call) {
  const PageDocument* const document = sources_.document();
  if (document == nullptr) {
    HttpResponse response = told(503, "berth has not read the cluster's objects yet\n");
    response.head += "retry-after: 1\r\n";
    return response;
  }
  const std::string etag = "\"" + document->id + "\"";
  if (document_.etag != etag)
    document_ = {.etag = etag,
                 .content_type = std::string(kJson),
                 .plain = document->json,
                 .gzipped = gzip(document->json)};
  return send(call, document_);
}

HttpResponse PageSite::send_events(const HttpCall& call) {
  if (!sources_.follow) return told(404, "what is shown here does not change\n");
  HttpResponse response = told(200, "");
  response.content_type = "text/event-stream";
  response.head += "cache-control: no-store\r\n";
  // Last-Event-ID, from a reconnect, is newer than the page's first state.
  const std::string since =
      call.last_event_id.empty() ? parameter(call.query, "since") : std::string(call.last_event_id);
  if (call.method == "GET") response.feed = sources_.follow(since);
  return response;
}

HttpResponse PageSite::send_why(const HttpCall& call) {
  if (!sources_.why) return told(404, "what is shown here says it all\n");
  Result<std::string> said = sources_.why(parameter(call.query, "subject"));
  if (!said) {
    const ErrorKind kind = said.error().kind;
    HttpResponse refusal = told(kind == ErrorKind::kNotFound      ? 404
                                : kind == ErrorKind::kUnavailable ? 503
                                                                  : 400,
                                said.error().message + "\n");
    if (refusal.status == 503) refusal.head += "retry-after: 1\r\n";
    return refusal;
  }
  HttpResponse response = told(200, *std::move(said));
  response.content_type = kJson;
  response.head += "cache-control: no-store\r\n";
  return response;
}

}  // namespace berth
