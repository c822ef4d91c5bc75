// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/encodings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/codec/decode.h"
#include "controller/client/watch_frames.h"
#include "tests/truth/rich_objects.h"

namespace berth::truth {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";

// The bytes of the server's answer.
std::string fetch(test::Kube& kube, const std::string& target, const std::string& accept) {
  const test::Reply reply = kube.send("GET", target, "", kJson, accept);
  if (reply.status == 0) throw std::runtime_error(fmt::format("GET {}: {}", target, reply.error));
  const nlohmann::json& body = reply.body.value();
  return body.is_string() ? body.get<std::string>() : body.dump();
}

template <class T>
std::string collection() {
  return fmt::format("/api/v1/{}", kKind<T>.plural);
}

// The query for a list at that version. The API server itself writes (its own lease, every ten
// seconds), so two lists of the present may have different versions.
std::string at(const std::string& resource_version) {
  return fmt::format("resourceVersionMatch=Exact&resourceVersion={}", resource_version);
}

// Reports a difference in one line, with the object's name.
template <class T>
void compare(const T& json, const T& protobuf, std::vector<std::string>& out) {
  if (json == protobuf && json.meta.resource_version == protobuf.meta.resource_version) return;
  out.push_back(fmt::format("{} {} differs by its encoding\n", kKind<T>.kind, json.meta.name));
}

template <class T>
std::vector<T> compare_lists(test::Kube& kube, std::vector<std::string>& out) {
  std::string as_json = fetch(kube, collection<T>(), kJson);
  const Result<ListPage<T>> json = decode_list<T>(as_json);
  const std::string moment = json ? "?" + at(json->resource_version) : "";
  std::string as_protobuf = fetch(kube, collection<T>() + moment, kProtobuf);
  Result<ListPage<T>> protobuf = decode_list<T>(as_protobuf);
  if (!json || !protobuf) {
    out.push_back(describe(json ? protobuf.error() : json.error()) + "\n");
    return {};
  }
  if (as_protobuf.starts_with('{')) out.push_back("the list in protobuf is JSON\n");
  if (json->resource_version != protobuf->resource_version ||
      json->items.size() != protobuf->items.size())
    out.push_back(fmt::format("lists of {} differ by their encoding\n", kKind<T>.plural));
  for (std::size_t i = 0; i < std::min(json->items.size(), protobuf->items.size()); ++i)
    compare(json->items[i], protobuf->items[i], out);
  return std::move(protobuf->items);
}

void compare_pages(test::Kube& kube, std::vector<std::string>& out) {
  const std::string first_two = collection<Node>() + "?limit=2";
  std::string as_json = fetch(kube, first_two, kJson);
  const Result<ListPage<Node>> json = decode_list<Node>(as_json);
  const std::string moment = json ? "&" + at(json->resource_version) : "";
  std::string as_protobuf = fetch(kube, first_two + moment, kProtobuf);
  const Result<ListPage<Node>> protobuf = decode_list<Node>(as_protobuf);
  if (!json || !protobuf || protobuf->items.size() != 2 || protobuf->continue_token.empty() ||
      json->continue_token != protobuf->continue_token)
    out.push_back("a page differs by its encoding\n");
}

// The first part of a WatchList, up to its bookmark.
template <class T>
std::vector<WatchEvent<T>> watch(test::Kube& kube, Encoding encoding,
                                 std::vector<std::string>& out) {
  const std::string bytes = fetch(kube,
                                  collection<T>() +
                                      "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
                                      "&resourceVersionMatch=NotOlderThan&timeoutSeconds=3",
                                  encoding == Encoding::kJson ? kJson : kProtobuf);
  WatchFrames frames;
  frames.set_encoding(encoding);
  std::vector<WatchEvent<T>> events;
  frames.feed(bytes, [&](std::string& event) {
    Result<WatchEvent<T>> decoded = decode_watch_event<T>(event, encoding);
    if (!decoded) out.push_back(describe(decoded.error()) + "\n");
    if (decoded) events.push_back(*std::move(decoded));
    return decoded && !events.back().initial_events_end;
  });
  std::ranges::sort(events, {}, [](const WatchEvent<T>& e) { return key_of(e.object.meta); });
  return events;
}

template <class T>
void compare_watches(test::Kube& kube, std::size_t objects, std::vector<std::string>& out) {
  const auto json = watch<T>(kube, Encoding::kJson, out);
  const auto protobuf = watch<T>(kube, Encoding::kProtobuf, out);
  if (json.size() != objects + 1 || protobuf.size() != json.size())
    out.push_back(fmt::format("watches of {} told {} and {} events, not {}\n", kKind<T>.plural,
                              json.size(), protobuf.size(), objects + 1));
  for (std::size_t i = 0; i < std::min(json.size(), protobuf.size()); ++i) {
    const bool bookmark = json[i].initial_events_end;  // its version is the server's at that moment
    if (!bookmark) compare(json[i].object, protobuf[i].object, out);
    if (bookmark && protobuf[i].object.meta.resource_version.empty())
      out.push_back("a bookmark in protobuf has no version\n");
    if (json[i].type != protobuf[i].type ||
        json[i].initial_events_end != protobuf[i].initial_events_end)
      out.push_back(fmt::format("event {} of {} differs by its encoding\n", i, kKind<T>.plural));
  }
}

// "Too large resource version: 999999999, current: 1234" without the present version.
std::string_view without_moment(const Error& error) {
  return std::string_view(error.message).substr(0, error.message.find(", current: "));
}

bool equal(const Error& a, const Error& b) {
  return a.kind == b.kind && a.http_code == b.http_code && a.reason == b.reason &&
         without_moment(a) == without_moment(b) && a.causes == b.causes &&
         a.retry_after == b.retry_after;
}

// A list of a future version is refused with a cause and a time to wait; an open watch gets an
// event.
void compare_refusals(test::Kube& kube, std::vector<std::string>& out) {
  const std::string list =
      collection<Pod>() + "?resourceVersionMatch=NotOlderThan&resourceVersion=999999999";
  const Error json = decode_status(504, fetch(kube, list, kJson));
  const Error protobuf = decode_status(504, fetch(kube, list, kProtobuf));
  if (!equal(json, protobuf) || protobuf.causes.size() != 1 || !protobuf.retry_after)
    out.push_back(fmt::format("a refusal differs by its encoding: {} | {}\n", describe(json),
                              describe(protobuf)));
}

}  // namespace

std::vector<std::string> compare_encodings(test::Kube& kube) {
  std::vector<std::string> out;
  create_rich_objects(kube);
  const std::vector<Pod> pods = compare_lists<Pod>(kube, out);
  const std::vector<Node> nodes = compare_lists<Node>(kube, out);
  for (const std::string& field : fields_missing(pods, nodes))
    out.push_back(fmt::format("no object has {}: nothing is compared there\n", field));
  compare_pages(kube, out);
  compare_watches<Pod>(kube, pods.size(), out);
  compare_watches<Node>(kube, nodes.size(), out);
  compare_refusals(kube, out);
  return out;
}

}  // namespace berth::truth
