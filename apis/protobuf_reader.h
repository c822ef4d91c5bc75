// SPDX-License-Identifier: Apache-2.0
// Reads protobuf messages in one pass, front to back, for protobuf_pod.cc and protobuf_node.cc.
// What nobody asks for is stepped over by its length. Bytes that are no such message throw a
// std::exception, which decode_protobuf.cc turns into an Error.
//
// Field numbers stand beside their readers, in structs named after the messages of
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg (generated.proto in each); they never change.
#pragma once

#define PROTOZERO_USE_VIEW std::string_view

#include <cstdint>
#include <iterator>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"

namespace berth {

// A field whose number has been read and whose value has not: it is read once.
class ProtobufField {
 public:
  explicit ProtobufField(protozero::pbf_reader& reader) : reader_(reader) {}
  std::string_view bytes();  // of a string or a message
  std::int64_t integer();

 private:
  protozero::pbf_reader& reader_;
};

// Calls on_field(number, field) → bool for each field; false: it was not read, and is skipped.
template <class OnField>
void each_field(std::string_view message, OnField&& on_field) {
  for (protozero::pbf_reader reader(message); reader.next();) {
    if (!on_field(reader.tag(), ProtobufField(reader))) reader.skip();
  }
}

// A string as UTF-8: JSON's encoder replaces what is none, and so does this, for a client that
// writes protobuf may have put in any bytes, and what is read here is written again as JSON. Lives
// until the next call.
std::string_view as_text(std::string_view bytes);

// All return true: the field was read.
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

// As in json_reader.h.
inline constexpr std::size_t kMaxRepeated = 20'000;
[[noreturn]] void throw_too_many();

// One value of a repeated field.
template <class T>
bool append(ProtobufField field, std::vector<T>& out) {
  if (out.size() == kMaxRepeated) throw_too_many();
  return read(field, out.emplace_back());
}

// What was gathered in a vector that keeps its memory, moved out in one allocation.
template <class T>
std::vector<T> take(std::vector<T>& gathered) {
  std::vector<T> taken(std::make_move_iterator(gathered.begin()),
                       std::make_move_iterator(gathered.end()));
  gathered.clear();
  return taken;
}

}  // namespace berth
