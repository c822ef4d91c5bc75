// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "controller/client/watch_frames.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/decoded.h"
#include "tests/fuzz/plain_json.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxEvent = 8000;

struct Stream {
  std::vector<std::string> events;
  bool good = true;
  bool operator==(const Stream&) const = default;
};

Stream cut(std::string_view bytes, std::size_t piece, Encoding encoding) {
  Stream stream;
  WatchFrames frames(kMaxEvent);
  frames.set_encoding(encoding);
  const auto keep = [&stream](std::string& event) {
    stream.events.push_back(event);
    event += "as its reader may";  // the reader may change it
    return true;
  };
  for (; stream.good && !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    stream.good = frames.feed(bytes.substr(0, piece), keep);
  return stream;
}

// The events of the input, or why it has none.
std::vector<std::string> events_of(std::string_view input, Encoding encoding, Verdict& verdict) {
  if (input.empty()) return {};
  const std::string_view bytes = input.substr(1);
  Stream whole = cut(bytes, bytes.size() + 1, encoding);
  if (whole != cut(bytes, 1 + static_cast<unsigned char>(input[0]), encoding))
    verdict.wrong = "the events depend on the pieces";
  std::size_t total = 0;
  for (const std::string& event : whole.events) total += event.size();
  if (total > bytes.size()) verdict.wrong = "more events than came";
  return std::move(whole.events);
}

template <class T>
Result<WatchEvent<T>> decode(std::string event, Encoding encoding = Encoding::kJson) {
  return decode_watch_event<T>(event, encoding);
}

template <class T>
void check_twice(const std::string& event, Encoding encoding, Verdict& verdict) {
  const Result<WatchEvent<T>> first = decode<T>(event, encoding);
  if (!same(first, decode<T>(event, encoding))) verdict.wrong = "decoded twice, and differently";
  if (std::string odd = odd_error(first, event.size()); !odd.empty()) verdict.wrong = odd;
  verdict.read = verdict.read || first.has_value();
}

template <class T>
void check_plain(const Json& event, const std::string& text, Verdict& verdict) {
  const Result<WatchEvent<T>> as_it_came = decode<T>(text);
  const Result<WatchEvent<T>> in_order = decode<T>(event.dump(1));
  if (as_it_came.has_value() != in_order.has_value() ||
      (as_it_came.has_value() && !same(*as_it_came, *in_order)))
    verdict.wrong = "blanks or the order of fields matter to " + std::string(kKind<T>.kind);
}

}  // namespace

Verdict check_watch_json(std::string_view input) {
  Verdict verdict;
  for (const std::string& event : events_of(input, Encoding::kJson, verdict)) {
    if (event.find('\n') != event.npos || event.empty()) verdict.wrong = "an event of two lines";
    const std::optional<Json> plain = plain_json(event);
    each_kind([&]<class T>() {
      check_twice<T>(event, Encoding::kJson, verdict);
      if (plain) check_plain<T>(*plain, event, verdict);
    });
    if (!verdict.wrong.empty()) return verdict;
  }
  return verdict;
}

Verdict check_watch_protobuf(std::string_view input) {
  using namespace std::string_view_literals;
  Verdict verdict;
  for (const std::string& event : events_of(input, Encoding::kProtobuf, verdict)) {
    check_twice<Node>(event, Encoding::kProtobuf, verdict);
    check_twice<Pod>(event, Encoding::kProtobuf, verdict);
    // Field 1000, a number, which is unknown.
    const Result<WatchEvent<Node>> alone = decode<Node>(event, Encoding::kProtobuf);
    if (alone.has_value() &&
        !same(alone, decode<Node>(event + std::string("\xc0\x3e\x01"sv), Encoding::kProtobuf)))
      verdict.wrong = "a field that nobody knows changes the event";
    if (alone.has_value() && !is_utf8(alone->object.meta.name))
      verdict.wrong = "a name that is no UTF-8";
    if (!verdict.wrong.empty()) return verdict;
  }
  return verdict;
}

}  // namespace berth::test
