// SPDX-License-Identifier: Apache-2.0
// ProtobufReader: reads protobuf messages in one pass, front to back, for protobuf_pod.cc and
// protobuf_node.cc. It skips unwanted fields by their length. Malformed bytes throw a
// std::exception, which decode_protobuf.cc turns into an Error.
//
// Each reader has its field numbers beside it, in structs with the names of the messages in
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg (generated.proto in each). The numbers never
// change.
#pragma once

#define PROTOZERO_USE_VIEW std::string_view

#include <cstdint>
#include <iterator>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"

namespace berth {

// A field after its number has been read. Read the value only once.
class ProtobufField {
 public:
  explicit ProtobufField(protozero::pbf_reader& reader) : reader_(reader) {}
  std::string_view bytes();  // of a string or a message
  std::int64_t integer();

 private:
  protozero::pbf_reader& reader_;
};

// Calls on_field(number, field) → bool for each field. If it returns false, it did not read the
// field, which is then skipped.
template <class OnField>
void each_field(std::string_view message, OnField&& on_field) {
  for (protozero::pbf_reader reader(message); reader.next();) {
    if (!on_field(reader.tag(), ProtobufField(reader))) reader.skip();
  }
}

// A string as UTF-8. Clients that write protobuf can store any bytes, and berth writes the text
// again as JSON. So this replaces invalid bytes, as JSON's encoder does. Valid until the next call.
std::string_view as_text(std::string_view bytes);

// All return true: they have read the field.
bool read(ProtobufField field, std::string& out);
bool read(ProtobufField field, Text& out);
bool read(ProtobufField field, bool& out);
bool read(ProtobufField field, std::int64_t& out);
bool read(ProtobufField field, std::int32_t& out);
bool read(ProtobufField field, Time& out);
bool read(ProtobufField field, std::optional<Time>& out);
bool read(ProtobufField field, Quantity& out);
bool read(ProtobufField field, StringMap::value_type& out);     // an entry of a map
bool read(ProtobufField field, ResourceList::value_type& out);  // an entry of a map
bool read(ProtobufField field, SelectorRequirement& out);
bool read(ProtobufField field, OwnerReference& out);
bool read(ProtobufField field, Toleration& out);        // protobuf_pod.cc
bool read(ProtobufField field, NodeSelectorTerm& out);  // protobuf_pod.cc
bool read(ProtobufField field, Taint& out);             // protobuf_node.cc
bool read(ProtobufField field, ObjectMeta& out);        // annotations by keeps_annotation

void read_message(std::string_view message, Pod& out);   // protobuf_pod.cc
void read_message(std::string_view message, Node& out);  // protobuf_node.cc

// The same limit as in json_reader.h.
inline constexpr std::size_t kMaxRepeated = 20'000;
[[noreturn]] void throw_too_many();

// One value of a repeated field.
template <class T>
bool append(ProtobufField field, std::vector<T>& out) {
  if (out.size() == kMaxRepeated) throw_too_many();
  return read(field, out.emplace_back());
}

// Moves collected items out with one allocation; `gathered` keeps its memory.
template <class T>
std::vector<T> take(std::vector<T>& gathered) {
  std::vector<T> taken(std::make_move_iterator(gathered.begin()),
                       std::make_move_iterator(gathered.end()));
  gathered.clear();
  return taken;
}

}  // namespace berth
