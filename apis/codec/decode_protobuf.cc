// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_protobuf.h"

#include <fmt/format.h>

#include <stdexcept>

#include "apis/codec/decode_frame.h"
#include "apis/codec/protobuf_reader.h"

namespace berth {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "k8s\0"sv;

struct UnknownField {
  enum : std::uint32_t { kRaw = 2 };
};
struct WatchEventField {
  enum : std::uint32_t { kType = 1, kObject = 2 };
};
struct RawExtensionField {
  enum : std::uint32_t { kRaw = 1 };
};
struct ObjectField {  // of every kind, lists too
  enum : std::uint32_t { kMetadata = 1 };
};
struct MetaField {
  enum : std::uint32_t { kResourceVersion = 6, kAnnotations = 12 };
};
struct EntryField {
  enum : std::uint32_t { kKey = 1, kValue = 2 };
};
struct ListField {
  enum : std::uint32_t { kMetadata = 1, kItems = 2 };
};
struct ListMetaField {
  enum : std::uint32_t { kResourceVersion = 2, kContinue = 3 };
};
struct StatusField {
  enum : std::uint32_t { kMessage = 3, kReason = 4, kDetails = 5, kCode = 6 };
};
struct DetailsField {
  enum : std::uint32_t { kCauses = 4, kRetryAfterSeconds = 5 };
};
struct CauseField {
  enum : std::uint32_t { kReason = 1, kMessage = 2, kField = 3 };
};

// One field of the message, a string or a message; the last one, if there are several.
std::string_view part_of(std::string_view message, std::uint32_t wanted) {
  std::string_view part;
  each_field(message, [&](std::uint32_t number, ProtobufField field) {
    if (number != wanted) return false;
    part = field.bytes();
    return true;
  });
  return part;
}

// The object inside its envelope runtime.Unknown.
std::string_view unwrap(std::string_view body) {
  if (!is_protobuf(body)) throw std::runtime_error("the object has no envelope");
  return part_of(body.substr(kMagic.size()), UnknownField::kRaw);
}

template <class T>
void read_bookmark(std::string_view object, WatchEvent<T>& event) {
  each_field(part_of(object, ObjectField::kMetadata),
             [&](std::uint32_t number, ProtobufField field) {
               if (number == MetaField::kResourceVersion)
                 return read(field, event.object.meta.resource_version);
               if (number != MetaField::kAnnotations) return false;
               const std::string_view entry = field.bytes();
               if (part_of(entry, EntryField::kKey) == kInitialEventsEnd)
                 event.initial_events_end = part_of(entry, EntryField::kValue) == "true";
               return true;
             });
}

ErrorCause read_cause(std::string_view message) {
  ErrorCause cause;
  each_field(message, [&](std::uint32_t number, ProtobufField field) {
    if (number == CauseField::kReason) return read(field, cause.reason);
    if (number == CauseField::kMessage) return read(field, cause.message);
    return number == CauseField::kField && read(field, cause.field);
  });
  return cause;
}

bool read_details(ProtobufField details, Error& error) {
  each_field(details.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == DetailsField::kCauses) {
      error.causes.push_back(read_cause(field.bytes()));
      return true;
    }
    if (number != DetailsField::kRetryAfterSeconds) return false;
    std::int32_t seconds = 0;
    read(field, seconds);
    if (seconds > 0) error.retry_after = std::chrono::seconds(seconds);
    return true;
  });
  return true;
}

Error read_status(int http_code, std::string_view status) {
  Error error;
  std::int32_t code = 0;
  each_field(status, [&](std::uint32_t number, ProtobufField field) {
    if (number == StatusField::kMessage) return read(field, error.message);
    if (number == StatusField::kReason) return read(field, error.reason);
    if (number == StatusField::kDetails) return read_details(field, error);
    return number == StatusField::kCode && read(field, code);
  });
  error.http_code = http_code != 0 ? http_code : code;
  return judged(std::move(error));
}

template <class T>
WatchEvent<T> read_event(std::string_view bytes) {
  using Type = typename WatchEvent<T>::Type;
  const auto type = event_type<T>(part_of(bytes, WatchEventField::kType));
  if (!type) throw std::runtime_error("its type is not a watch event type");
  const std::string_view object =
      unwrap(part_of(part_of(bytes, WatchEventField::kObject), RawExtensionField::kRaw));
  WatchEvent<T> event;
  event.type = *type;
  if (*type == Type::kError)
    event.error = read_status(0, object);
  else if (*type == Type::kBookmark)
    read_bookmark(object, event);
  else
    read_message(object, event.object);
  return event;
}

template <class T>
ListPage<T> read_list(std::string_view list) {
  ListPage<T> page;
  each_field(list, [&](std::uint32_t number, ProtobufField field) {
    if (number == ListField::kItems) {
      if (page.items.size() == kMaxRepeated) throw_too_many();
      read_message(field.bytes(), page.items.emplace_back());
      return true;
    }
    if (number != ListField::kMetadata) return false;
    each_field(field.bytes(), [&](std::uint32_t name, ProtobufField part) {
      if (name == ListMetaField::kResourceVersion) return read(part, page.resource_version);
      return name == ListMetaField::kContinue && read(part, page.continue_token);
    });
    return true;
  });
  return page;
}

Error not_protobuf(std::string_view what, const std::exception& why) {
  return decode_error("", fmt::format("is no protobuf {}: {}", what, why.what()));
}

}  // namespace

bool is_protobuf(std::string_view body) { return body.starts_with(kMagic); }

template <class T>
Result<WatchEvent<T>> decode_protobuf_event(std::string_view event) {
  try {
    return read_event<T>(event);
  } catch (const std::exception& why) {
    return not_protobuf(fmt::format("watch event of a {}", kKind<T>.kind), why);
  }
}

template <class T>
Result<ListPage<T>> decode_protobuf_list(std::string_view body) {
  try {
    return read_list<T>(unwrap(body));
  } catch (const std::exception& why) {
    return not_protobuf(fmt::format("{}List", kKind<T>.kind), why);
  }
}

Error decode_protobuf_status(int http_code, std::string_view body) {
  try {
    return read_status(http_code, unwrap(body));
  } catch (const std::exception&) {
    Error error;
    error.http_code = http_code;
    return judged(std::move(error));
  }
}

template Result<WatchEvent<Pod>> decode_protobuf_event(std::string_view);
template Result<WatchEvent<Node>> decode_protobuf_event(std::string_view);
template Result<ListPage<Pod>> decode_protobuf_list(std::string_view);
template Result<ListPage<Node>> decode_protobuf_list(std::string_view);

}  // namespace berth
