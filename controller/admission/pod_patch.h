// SPDX-License-Identifier: Apache-2.0
// PodPatch: a JSON patch that adds. It never replaces an array, so that entries of other webhooks
// and of the server stay at their index. A patch above one megabyte is dropped, because etcd would
// reject the pod.
#pragma once

#include <string>
#include <string_view>

namespace berth {

class PodPatch {
 public:
  // Adds or replaces an object's member; a path that ends in /- appends to a list.
  void add(std::string_view path, std::string_view json_value) { append("add", path, json_value); }
  void add_text(std::string_view path, std::string_view text);
  void remove(std::string_view path) { append("remove", path, {}); }
  void append(const PodPatch& more);

  // If true, the caller must drop the patch.
  bool too_large() const { return too_large_; }
  bool empty() const { return operations_.empty(); }
  std::string str() const { return "[" + operations_ + "]"; }

 private:
  void append(std::string_view op, std::string_view path, std::string_view json_value);
  std::string operations_;
  bool too_large_ = false;
};

}  // namespace berth
