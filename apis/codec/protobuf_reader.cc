// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/protobuf_reader.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/base/selector.h"
#include "apis/codec/decode.h"

namespace berth {
namespace {

using protozero::pbf_wire_type;

struct TimeField {
  enum : std::uint32_t { kSeconds = 1 };
};
struct QuantityField {
  enum : std::uint32_t { kString = 1 };
};
struct EntryField {
  enum : std::uint32_t { kKey = 1, kValue = 2 };
};
struct RequirementField {
  enum : std::uint32_t { kKey = 1, kOperator = 2, kValues = 3 };
};
struct OwnerField {
  enum : std::uint32_t { kKind = 1, kName = 3, kUid = 4, kApiVersion = 5, kController = 6 };
};
struct MetaField {
  enum : std::uint32_t {
    kName = 1,
    kNamespace = 3,
    kUid = 5,
    kResourceVersion = 6,
    kGeneration = 7,
    kCreationTimestamp = 8,
    kDeletionTimestamp = 9,
    kLabels = 11,
    kAnnotations = 12,
    kOwnerReferences = 13,
    kFinalizers = 14,
  };
};

// The years 0 to 9999, the range of RFC 3339.
constexpr std::int64_t kFirstSecond = -62'167'219'200, kLastSecond = 253'402'300'799;

bool is_ascii(std::string_view text) {
  unsigned char any = 0;
  for (const char c : text) any |= static_cast<unsigned char>(c);
  return any < 0x80;
}

struct MapEntry {
  std::string_view key, value;
};

MapEntry read_entry(std::string_view entry) {
  MapEntry out;
  each_field(entry, [&](std::uint32_t number, ProtobufField field) {
    if (number != EntryField::kKey && number != EntryField::kValue) return false;
    (number == EntryField::kKey ? out.key : out.value) = field.bytes();
    return true;
  });
  return out;
}

StringMap::value_type label_of(MapEntry entry) {
  Text key(as_text(entry.key));
  return {std::move(key), Text(as_text(entry.value))};
}

Quantity read_quantity(std::string_view message) {
  std::string_view text = "0";
  each_field(message, [&](std::uint32_t number, ProtobufField field) {
    if (number != QuantityField::kString) return false;
    text = field.bytes();
    return true;
  });
  const Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) throw std::runtime_error(quantity.error().message);
  return *quantity;
}

}  // namespace

std::string_view ProtobufField::bytes() {
  if (!reader_.has_wire_type(pbf_wire_type::length_delimited))
    throw std::runtime_error(fmt::format("field {} is no string and no message", reader_.tag()));
  return reader_.get_view();
}

std::int64_t ProtobufField::integer() {
  if (!reader_.has_wire_type(pbf_wire_type::varint))
    throw std::runtime_error(fmt::format("field {} is no number", reader_.tag()));
  return reader_.get_int64();
}

void throw_too_many() {
  throw std::runtime_error(fmt::format("a field is repeated more than {} times", kMaxRepeated));
}

std::string_view as_text(std::string_view bytes) {
  if (is_ascii(bytes)) return bytes;
  static std::string repaired;
  const std::string json =
      nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  repaired = nlohmann::json::parse(json).get<std::string>();
  return repaired;
}

bool read(ProtobufField field, std::string& out) {
  out = as_text(field.bytes());
  return true;
}

bool read(ProtobufField field, Text& out) {
  out = Text(as_text(field.bytes()));
  return true;
}

bool read(ProtobufField field, bool& out) {
  out = field.integer() != 0;
  return true;
}

bool read(ProtobufField field, std::int64_t& out) {
  out = field.integer();
  return true;
}

bool read(ProtobufField field, std::int32_t& out) {
  const std::int64_t wide = field.integer();
  if (wide < std::numeric_limits<std::int32_t>::min() ||
      wide > std::numeric_limits<std::int32_t>::max())
    throw std::runtime_error(fmt::format("{} does not fit in 32 bits", wide));
  out = static_cast<std::int32_t>(wide);
  return true;
}

// The zero of metav1.Time is a message without fields here, and null in JSON. JSON has no fractions
// of a second.
bool read(ProtobufField field, std::optional<Time>& out) {
  out.reset();
  each_field(field.bytes(), [&](std::uint32_t number, ProtobufField part) {
    if (number != TimeField::kSeconds) return false;
    const std::int64_t seconds = part.integer();
    if (seconds < kFirstSecond || seconds > kLastSecond)
      throw std::runtime_error(fmt::format("{} s since 1970 is no time", seconds));
    out = Time(std::chrono::seconds(seconds));
    return true;
  });
  return true;
}

bool read(ProtobufField field, Time& out) {
  std::optional<Time> time;
  read(field, time);
  if (time) out = *time;
  return true;
}

bool read(ProtobufField field, Quantity& out) {
  out = read_quantity(field.bytes());
  return true;
}

bool read(ProtobufField field, StringMap::value_type& out) {
  out = label_of(read_entry(field.bytes()));
  return true;
}

bool read(ProtobufField field, ResourceList::value_type& out) {
  const MapEntry entry = read_entry(field.bytes());
  out = {Text(as_text(entry.key)), read_quantity(entry.value)};
  return true;
}

bool read(ProtobufField requirement, SelectorRequirement& out) {
  each_field(requirement.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == RequirementField::kKey) return read(field, out.key);
    if (number == RequirementField::kValues) return append(field, out.values);
    if (number != RequirementField::kOperator) return false;
    const std::string_view name = field.bytes();
    const std::optional<SelectorOperator> op = selector_operator(name);
    if (!op)
      throw std::runtime_error(
          fmt::format("\"{}\" is not a known operator", as_text(name.substr(0, 64))));
    out.op = *op;
    return true;
  });
  return true;
}

bool read(ProtobufField owner, OwnerReference& out) {
  each_field(owner.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == OwnerField::kApiVersion) return read(field, out.api_version);
    if (number == OwnerField::kKind) return read(field, out.kind);
    if (number == OwnerField::kName) return read(field, out.name);
    if (number == OwnerField::kUid) return read(field, out.uid);
    return number == OwnerField::kController && read(field, out.controller);
  });
  return true;
}

bool read(ProtobufField meta, ObjectMeta& out) {
  static std::vector<StringMap::value_type> labels, annotations;
  static std::vector<OwnerReference> owners;
  static std::vector<Text> finalizers;
  labels.clear(), annotations.clear(), owners.clear(), finalizers.clear();
  each_field(meta.bytes(), [&](std::uint32_t number, ProtobufField field) {
    switch (number) {
      case MetaField::kName:
        return read(field, out.name);
      case MetaField::kNamespace:
        return read(field, out.namespace_);
      case MetaField::kUid:
        return read(field, out.uid);
      case MetaField::kResourceVersion:
        return read(field, out.resource_version);
      case MetaField::kGeneration:
        return read(field, out.generation);
      case MetaField::kCreationTimestamp:
        return read(field, out.creation_timestamp);
      case MetaField::kDeletionTimestamp:
        return read(field, out.deletion_timestamp);
      case MetaField::kLabels:
        return append(field, labels);
      case MetaField::kAnnotations: {
        const MapEntry entry = read_entry(field.bytes());
        if (keeps_annotation(entry.key)) annotations.push_back(label_of(entry));
        return true;
      }
      case MetaField::kOwnerReferences:
        return append(field, owners);
      case MetaField::kFinalizers:
        return append(field, finalizers);
      default:
        return false;  // mostly managedFields, half of the bytes
    }
  });
  out.labels = StringMap::take(labels);
  out.annotations = StringMap::take(annotations);
  out.owner_references = take(owners);
  out.finalizers = take(finalizers);
  return true;
}

}  // namespace berth
