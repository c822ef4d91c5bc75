// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pod_patch.h"

#include "controller/core/json_patch.h"

namespace berth {

void PodPatch::add_text(std::string_view path, std::string_view text) {
  append("add", path, quote_json(text));
}

void PodPatch::append(const PodPatch& more) {
  if (!operations_.empty() && !more.operations_.empty()) operations_ += ',';
  operations_ += more.operations_;
}

void PodPatch::append(std::string_view op, std::string_view path, std::string_view json_value) {
  constexpr std::size_t kUsualBytes = 2048, kMaxBytes = 1 << 20;
  too_large_ = too_large_ || operations_.size() + path.size() + json_value.size() > kMaxBytes;
  if (too_large_) return;
  if (operations_.empty())
    operations_.reserve(kUsualBytes);
  else
    operations_ += ',';
  operations_.append(R"({"op":")").append(op).append(R"(","path":)");
  append_quoted(operations_, path);
  if (!json_value.empty()) operations_.append(R"(,"value":)").append(json_value);
  operations_ += '}';
}

}  // namespace berth
