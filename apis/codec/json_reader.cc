// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/json_reader.h"

#include <fmt/format.h>

#include <limits>

#include "apis/codec/decode.h"

namespace berth {
namespace {

// Collects a map in a vector that keeps its memory, then moves it with one allocation.
template <class V>
bool read_map(od::value value, FlatMap<V>& out, Fault& fault, bool (*keeps)(std::string_view)) {
  static std::vector<typename FlatMap<V>::value_type> entries;
  entries.clear();
  const bool good = each_field(value, fault, [&](std::string_view key, od::value field) {
    if (keeps != nullptr && !keeps(key)) return true;
    if (entries.size() == kMaxItems) return fault.too_many();
    entries.emplace_back(key, V());
    return read(field, entries.back().second, fault);
  });
  out = FlatMap<V>::take(entries);
  return good;
}

}  // namespace

bool read(od::value value, std::string_view& out, Fault& fault) {
  // Strings rarely have escapes. A string without them needs no copy, because its bytes are its
  // text. simdjson has already checked UTF-8, control characters and the closing quote, which is
  // the token's last character apart from space.
  const std::string_view token = value.raw_json_token();
  if (!token.empty() && token.front() == '"' && token.find('\\') == token.npos) {
    out = token.substr(1, token.rfind('"') - 1);
    return true;
  }
  auto code = value.get_string().get(out);
  if (code == simdjson::SUCCESS) return true;
  out = std::string_view();
  return is_null(value) || fault.wrong(value, "a string", code);
}

bool read(od::value value, bool& out, Fault& fault) {
  auto code = value.get_bool().get(out);
  if (code == simdjson::SUCCESS) return true;
  out = false;
  return is_null(value) || fault.wrong(value, "true or false", code);
}

bool read(od::value value, std::int64_t& out, Fault& fault) {
  auto code = value.get_int64().get(out);
  if (code == simdjson::SUCCESS) return true;
  return is_null(value) || fault.wrong(value, "a whole number", code);
}

bool read(od::value value, std::int32_t& out, Fault& fault) {
  std::int64_t wide = out;
  if (!read(value, wide, fault)) return false;
  if (wide < std::numeric_limits<std::int32_t>::min() ||
      wide > std::numeric_limits<std::int32_t>::max()) {
    return fault.bad(fmt::format("{} does not fit in 32 bits", wide));
  }
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool read(od::value value, Time& out, Fault& fault) {
  std::string_view text;
  if (!read(value, text, fault)) return false;
  if (text.empty()) return true;  // null
  Result<Time> time = parse_time(text);
  if (!time) return fault.bad(time.error().message);
  out = *time;
  return true;
}

bool read(od::value value, std::optional<Time>& out, Fault& fault) {
  out.reset();
  std::string_view text;
  if (!read(value, text, fault)) return false;
  if (text.empty()) return true;
  Result<Time> time = parse_time(text);
  if (!time) return fault.bad(time.error().message);
  out = *time;
  return true;
}

bool read(od::value value, Quantity& out, Fault& fault) {
  // A quantity is a string or a bare number.
  std::string_view text = value.raw_json_token();
  if (!text.empty() && text.front() == '"') {
    if (!read(value, text, fault)) return false;
  } else {
    double number = 0;
    if (auto code = value.get_double().get(number); code != simdjson::SUCCESS) {
      return is_null(value) || fault.wrong(value, "a quantity", code);
    }
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  }
  Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) return fault.bad(quantity.error().message);
  out = *quantity;
  return true;
}

bool read(od::value value, StringMap& out, Fault& fault) {
  return read_map(value, out, fault, nullptr);
}

bool read(od::value value, ResourceList& out, Fault& fault) {
  return read_map(value, out, fault, nullptr);
}

bool read(od::value value, OwnerReference& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "apiVersion") return read(field, out.api_version, fault);
    if (key == "kind") return read(field, out.kind, fault);
    if (key == "name") return read(field, out.name, fault);
    if (key == "uid") return read(field, out.uid, fault);
    if (key == "controller") return read(field, out.controller, fault);
    return true;
  });
}

bool read(od::value value, ObjectMeta& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    switch (key.empty() ? '\0' : key.front()) {
      case 'n':
        if (key == "name") return read(field, out.name, fault);
        if (key == "namespace") return read(field, out.namespace_, fault);
        return true;
      case 'u':
        return key != "uid" || read(field, out.uid, fault);
      case 'r':
        return key != "resourceVersion" || read(field, out.resource_version, fault);
      case 'g':
        return key != "generation" || read(field, out.generation, fault);
      case 'c':
        return key != "creationTimestamp" || read(field, out.creation_timestamp, fault);
      case 'd':
        return key != "deletionTimestamp" || read(field, out.deletion_timestamp, fault);
      case 'l':
        return key != "labels" || read(field, out.labels, fault);
      case 'a':
        return key != "annotations" || read_map(field, out.annotations, fault, keeps_annotation);
      case 'o':
        return key != "ownerReferences" || read(field, out.owner_references, fault);
      case 'f':
        return key != "finalizers" || read(field, out.finalizers, fault);
      default:
        return true;  // mostly managedFields, half of the bytes
    }
  });
}

}  // namespace berth
