// SPDX-License-Identifier: Apache-2.0
// Writes an object's JSON as the protobuf of an API server, as far as the tests' objects need it.
// Its field numbers are an independent copy, and the truth check compares them with the real
// server's.
#pragma once

#include <string>
#include <string_view>

namespace berth::test {

// Only the message. `kind` is Pod, Node, PodList, NodeList or Status; fields that the table lacks
// are left out.
std::string protobuf_message(std::string_view kind, const std::string& json);
// In the envelope of bodies.
std::string protobuf_body(std::string_view kind, const std::string& json);
// One event of a watch stream, without its length.
std::string protobuf_event(std::string_view type, std::string_view kind, const std::string& json);

}  // namespace berth::test
