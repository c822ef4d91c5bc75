// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/apis/protobuf_writer.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/decoded.h"
#include "tests/fuzz/plain_json.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

template <class T>
Result<ListPage<T>> decode_page(std::string body) {
  return decode_list<T>(body);
}
template <class T>
Result<T> decode_one(std::string body) {
  return decode_object<T>(body);
}

template <class T>
Result<ListPage<T>> check_page_twice(const std::string& body, Verdict& verdict) {
  Result<ListPage<T>> page = decode_page<T>(body);
  if (!same(page, decode_page<T>(body))) verdict.wrong = "decoded twice, and differently";
  if (std::string odd = odd_error(page, body.size()); !odd.empty()) verdict.wrong = odd;
  if (page.has_value() && page->items.size() + page->unread.size() > body.size())
    verdict.wrong = "more items than bytes";
  verdict.read = verdict.read || (page.has_value() && !page->items.empty());
  return page;
}

template <class T>
void check_plain_page(const Json& json, const ListPage<T>& page, Verdict& verdict) {
  const Result<ListPage<T>> in_order = decode_page<T>(json.dump());
  if (!in_order.has_value() || !same(*in_order, page))
    verdict.wrong = "blanks or the order of fields matter to " + std::string(kKind<T>.kind);
  const Json items = json.value("items", Json());
  if (items.is_array() && items.size() != page.items.size() + page.unread.size())
    verdict.wrong = "items are lost";
  std::size_t read = 0;
  for (std::size_t i = 0; i < page.items.size() + page.unread.size(); ++i) {
    const Result<T> alone = decode_one<T>(items[i].dump());
    if (!alone.has_value()) continue;  // it counts as unread
    if (read == page.items.size() || !same(*alone, page.items[read++]))
      verdict.wrong = "an item is another object alone";
  }
  if (read != page.items.size()) verdict.wrong = "an item can't be read alone";
}

// The protobuf of the same list, by the tests' own writer, must read as the same.
template <class T>
void check_protobuf(const Json& json, const ListPage<T>& page, Verdict& verdict) {
  std::string body;
  try {
    body = protobuf_body(std::string(kKind<T>.kind) + "List", json.dump());
  } catch (const std::exception&) {
    return;  // the writer only knows the fields of the tests' objects
  }
  const Result<ListPage<T>> read = decode_page<T>(body);
  if (!read.has_value() || !same(*read, page))
    verdict.wrong = "JSON and protobuf of one list are read differently: " +
                    (read.has_value() ? "" : describe(read.error()));
}

// Whether protobuf can express the value: no null, and no fractional time.
bool is_sayable(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_string()) return value.get_ref<const std::string&>().find('.') == std::string::npos;
  if (!value.is_structured()) return true;
  for (const Json& child : value)
    if (!is_sayable(child)) return false;
  return true;
}

}  // namespace

Verdict check_list_json(std::string_view text) {
  Verdict verdict;
  const std::string body(text);
  const std::optional<Json> plain = plain_json(body);
  each_kind([&]<class T>() {
    const Result<ListPage<T>> page = check_page_twice<T>(body, verdict);
    if (plain && page.has_value()) check_plain_page(*plain, *page, verdict);
    if constexpr (kPreferredEncoding<T> == Encoding::kProtobuf) {
      if (plain && page.has_value() && is_sayable(*plain)) check_protobuf(*plain, *page, verdict);
    }
  });
  return verdict;
}

Verdict check_list_protobuf(std::string_view text) {
  Verdict verdict;
  const std::string body(text);
  (void)check_page_twice<Pod>(body, verdict);
  const Result<ListPage<Node>> nodes = check_page_twice<Node>(body, verdict);
  if (nodes.has_value()) {
    for (const Node& node : nodes->items)
      if (!is_utf8(node.meta.name) || !is_utf8(node.boot_id)) verdict.wrong = "text that is none";
  }
  if (decode_status(500, body).message.empty()) verdict.wrong = "a Status without words";
  return verdict;
}

}  // namespace berth::test
