// SPDX-License-Identifier: Apache-2.0
// DecodeProtobuf: the frames around protobuf objects: the envelope around each body, watch events,
// lists and Status. For decode.cc. protobuf_pod.cc and protobuf_node.cc read the objects inside.
#pragma once

#include <string_view>

#include "apis/codec/decode.h"

namespace berth {

// Protobuf bodies start with four bytes that never start a JSON text
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
bool is_protobuf(std::string_view body);

// Instantiated for Pod and Node.
template <class T>
Result<WatchEvent<T>> decode_protobuf_event(std::string_view event);
template <class T>
Result<ListPage<T>> decode_protobuf_list(std::string_view body);

// A metav1.Status with its envelope; unreadable parts stay empty.
Error decode_protobuf_status(int http_code, std::string_view body);

}  // namespace berth
