// SPDX-License-Identifier: Apache-2.0
// Writes an object's JSON as the protobuf that an API server would send, as far as the tests'
// objects go. Its field numbers are written down a second time here, and the truth check holds
// them against the real server's.
#pragma once

#include <string>
#include <string_view>

namespace berth::test {

// The message alone. `kind` is Pod, Node, PodList, NodeList or Status; fields that the table does
// not know are left out.
std::string protobuf_message(std::string_view kind, const std::string& json);
// In the envelope that bodies come in.
std::string protobuf_body(std::string_view kind, const std::string& json);
// One event of a watch stream, without its length.
std::string protobuf_event(std::string_view type, std::string_view kind, const std::string& json);

}  // namespace berth::test
