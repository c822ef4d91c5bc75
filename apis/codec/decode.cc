// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode_frame.h"
#include "apis/codec/decode_policy.h"
#include "apis/codec/decode_protobuf.h"
#include "apis/codec/parse_json.h"
#include "apis/kinds/watched_kinds.h"

namespace berth {
namespace {

using Json = nlohmann::json;

// simdjson's parser keeps its buffers, about five bytes per byte of its largest document. One
// parser serves all watch events. Each list page gets its own parser, so that its megabytes are
// freed.
constexpr std::size_t kMaxEventBytes = 256 * 1024;

od::parser& event_parser() {
  // never destroyed, because static objects elsewhere may still decode
  static auto* parser = new od::parser;
  return *parser;
}

simdjson::padded_string_view padded(std::string& body) {
  if (body.capacity() < body.size() + simdjson::SIMDJSON_PADDING) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  }
  return simdjson::padded_string_view(body.data(), body.size(), body.capacity());
}

// Calls on_root(value) for the body. True if the whole body is JSON and on_root accepted it.
template <class OnField>
bool read_root(std::string& body, Fault& fault, OnField&& on_field) {
  std::optional<od::parser> own;
  od::parser& parser = body.size() > kMaxEventBytes ? own.emplace() : event_parser();
  od::document document;
  if (auto code = parser.iterate(padded(body)).get(document); code != simdjson::SUCCESS) {
    return fault.broken(code);
  }
  od::object root;
  if (auto code = document.get_object().get(root); code != simdjson::SUCCESS) {
    return fault.broken(code);
  }
  for (auto result : root) {
    od::field field;
    std::string_view key;
    if (auto code = std::move(result).get(field); code != simdjson::SUCCESS)
      return fault.broken(code);
    if (!read_key(field, key, fault)) return false;
    if (!on_field(key, field.value())) return fault.under(key);
  }
  return true;
}

Result<Json> parse_small(std::string_view body) {
  Json json = parse_foreign_json(body);
  if (json.is_discarded())
    return decode_error("", "is not valid JSON, or deeper or of more values than any object");
  if (!json.is_object()) return decode_error("", "is not a JSON object");
  return json;
}

template <class T>
Result<T> read_small(const Json& json, const std::string& under) {
  std::optional<Error> error;
  T object;
  JsonCursor cursor(&json, error);
  if (json.is_object())
    read(cursor, object);
  else
    cursor.fail("must be an object");
  if (!error) return object;
  if (!under.empty()) error->where = error->where.empty() ? under : under + "." + error->where;
  return *std::move(error);
}

void read_bookmark(const Json& object, std::string& resource_version, bool& initial_events_end) {
  std::optional<Error> ignored;
  JsonCursor meta = JsonCursor(&object, ignored)["metadata"];
  meta["resourceVersion"].read(resource_version);
  std::string end;
  meta["annotations"][kInitialEventsEnd].read(end);
  initial_events_end = end == "true";
}

// Bookmarks, errors, and the kinds of which there are few.
template <class T>
Result<WatchEvent<T>> decode_small_event(std::string_view line) {
  using Type = typename WatchEvent<T>::Type;
  Result<Json> json = parse_small(line);
  if (!json) return json.error();
  auto type_text = json->find("type"), object = json->find("object");
  if (type_text == json->end() || !type_text->is_string()) {
    return decode_error("type", "a watch event must say its type");
  }
  if (object == json->end() || !object->is_object()) {
    return decode_error("object", "a watch event must carry an object");
  }
  auto type = event_type<T>(type_text->template get_ref<const std::string&>());
  if (!type) return decode_error("type", "is not a watch event type");

  WatchEvent<T> event;
  event.type = *type;
  if (*type == Type::kError) {
    event.error = read_status(0, *object);
  } else if (*type == Type::kBookmark) {
    read_bookmark(*object, event.object.meta.resource_version, event.initial_events_end);
  } else if constexpr (kAtVolume<T>) {
    // decode_volume_event reads all other kinds
    return decode_error("type", "comes after the object");
  } else {
    Result<T> read = read_small<T>(*object, "object");
    if (!read) return std::move(read).error();
    event.object = *std::move(read);
  }
  return event;
}

// The server writes type before object. If the order is different, this needs two passes.
template <class T>
Result<WatchEvent<T>> decode_volume_event(std::string& line) {
  using Type = typename WatchEvent<T>::Type;
  WatchEvent<T> event;
  std::optional<Type> type;
  bool has_object = false;
  Fault fault;
  bool good = read_root(line, fault, [&](std::string_view key, od::value value) {
    if (key == "type") {
      std::string_view text;
      if (!read(value, text, fault)) return false;
      type = event_type<T>(text);
      return type.has_value() || fault.bad("is not a watch event type");
    }
    if (key != "object") return true;
    has_object = true;
    if (type == Type::kBookmark || type == Type::kError) return true;
    event.object = T();  // for a duplicate key the last one counts
    return read(value, event.object, fault);
  });
  if (type == Type::kBookmark || type == Type::kError) return decode_small_event<T>(line);
  if (!good) return fault.error();
  if (!type) return decode_error("type", "a watch event must say its type");
  if (!has_object) return decode_error("object", "a watch event must carry an object");
  event.type = *type;
  return event;
}

ObjectKey item_key(const Json& object) {
  std::optional<Error> ignored;
  JsonCursor meta = JsonCursor(&object, ignored)["metadata"];
  ObjectKey key;
  meta["namespace"].read(key.namespace_);
  meta["name"].read(key.name);
  return key;
}

// Makes a document of each item of a list: one document of all items would need many times the
// page's memory. An item with a name and an unreadable field goes to `unread`. An item without a
// name fails the list.
template <class T>
bool read_small_item(od::value item, ListPage<T>& page, std::optional<Error>& error, Fault& fault) {
  od::object object;
  std::string_view text;
  if (auto code = item.get_object().get(object); code != simdjson::SUCCESS)
    return fault.wrong(item, "an object", code);
  if (auto code = object.raw_json().get(text); code != simdjson::SUCCESS) return fault.broken(code);
  Result<Json> json = parse_small(text);
  if (!json) return fault.bad(json.error().message);
  const std::size_t index = page.items.size() + page.unread.size();
  Result<T> read = read_small<T>(*json, fmt::format("items[{}]", index));
  if (read) {
    page.items.push_back(*std::move(read));
    return true;
  }
  ObjectKey key = item_key(*json);
  if (key.name.empty()) {
    error = std::move(read).error();
    return fault.bad(error->message);
  }
  page.unread.push_back({std::move(key), std::move(read).error()});
  return true;
}

template <class T>
Result<ListPage<T>> decode_json_list(std::string& body) {
  ListPage<T> page;
  Fault fault;
  std::optional<Error> error;  // of an item of a kind with few objects
  bool good = read_root(body, fault, [&](std::string_view key, od::value value) {
    if (key == "items") {
      page.items.clear();
      page.unread.clear();
      return each_item(value, fault, [&](od::value item) {
        if constexpr (kAtVolume<T>)
          return read(item, page.items.emplace_back(), fault);
        else
          return read_small_item(item, page, error, fault);
      });
    }
    if (key != "metadata") return true;
    return each_field(value, fault, [&](std::string_view name, od::value field) {
      if (name == "resourceVersion") return read(field, page.resource_version, fault);
      if (name == "continue") return read(field, page.continue_token, fault);
      return true;
    });
  });
  if (!good) return error ? *std::move(error) : fault.error();
  return page;
}

}  // namespace

bool keeps_annotation(std::string_view key) {
  return key.starts_with("gpu.berth.dev/") || key == names::kMirrorAnnotation ||
         key == "cluster-autoscaler.kubernetes.io/safe-to-evict" ||
         key == "cluster-autoscaler.kubernetes.io/scale-down-disabled" ||
         key == "karpenter.sh/do-not-disrupt" || key == "leaderworkerset.sigs.k8s.io/size";
}

template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string& event, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) {
    if constexpr (kPreferredEncoding<T> == Encoding::kProtobuf)
      return decode_protobuf_event<T>(event);
    else
      return decode_error("", "is protobuf, of which nothing was asked for");
  }
  if constexpr (kAtVolume<T>)
    return decode_volume_event<T>(event);
  else
    return decode_small_event<T>(event);
}

std::optional<ObjectKey> key_of_event(std::string_view event) {
  const Json json = parse_foreign_json(event);
  if (!json.is_object() || !json.contains("object")) return std::nullopt;
  ObjectKey key = item_key(json["object"]);
  if (key.name.empty()) return std::nullopt;
  return key;
}

template <class T>
Result<ListPage<T>> decode_list(std::string& body) {
  if constexpr (kPreferredEncoding<T> == Encoding::kProtobuf) {
    if (is_protobuf(body)) return decode_protobuf_list<T>(body);
  }
  return decode_json_list<T>(body);
}

template <class T>
Result<T> decode_object(std::string& body) {
  if constexpr (kAtVolume<T>) {
    T object;
    Fault fault;
    // read() takes a value, so this makes one of the whole document.
    std::optional<od::parser> own;
    od::parser& parser = body.size() > kMaxEventBytes ? own.emplace() : event_parser();
    od::document document;
    if (auto code = parser.iterate(padded(body)).get(document); code != simdjson::SUCCESS) {
      fault.broken(code);
      return fault.error();
    }
    od::value root;
    if (auto code = document.get_value().get(root); code != simdjson::SUCCESS) {
      fault.broken(code);
      return fault.error();
    }
    if (!read(root, object, fault)) return fault.error();
    return object;
  } else {
    Result<Json> json = parse_small(body);
    if (!json) return json.error();
    return read_small<T>(*json, "");
  }
}

template <class T>
Result<T> decode_document(const nlohmann::json& object) {
  return read_small<T>(object, "");
}
template Result<MIGLayout> decode_document(const nlohmann::json& object);
template Result<GPUClusterPolicy> decode_document(const nlohmann::json& object);
template Result<GPUQueue> decode_document(const nlohmann::json& object);

#define BERTH_DECODES(T, ...)                                                \
  template Result<WatchEvent<T>> decode_watch_event(std::string&, Encoding); \
  template Result<ListPage<T>> decode_list(std::string&);                    \
  template Result<T> decode_object(std::string&);
BERTH_WATCHED_KINDS(BERTH_DECODES)
BERTH_DECODES(Lease)
#undef BERTH_DECODES

}  // namespace berth
