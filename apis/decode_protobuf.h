// SPDX-License-Identifier: Apache-2.0
// The frames around protobuf objects: the envelope that each body is wrapped in, watch events,
// lists and Status. For decode.cc; the objects themselves are protobuf_pod.cc's and
// protobuf_node.cc's.
#pragma once

#include <string_view>

#include "apis/decode.h"

namespace berth {

// Bodies in protobuf begin with four bytes that no JSON begins with
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
bool is_protobuf(std::string_view body);

// Instantiated for Pod and Node.
template <class T>
Result<WatchEvent<T>> decode_protobuf_event(std::string_view event);
template <class T>
Result<ListPage<T>> decode_protobuf_list(std::string_view body);

// A metav1.Status with its envelope, as far as it can be read.
Error decode_protobuf_status(int http_code, std::string_view body);

}  // namespace berth
