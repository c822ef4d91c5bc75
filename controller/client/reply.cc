// SPDX-License-Identifier: Apache-2.0
#include "controller/client/reply.h"

#include <algorithm>
#include <charconv>

#include "controller/client/api_request.h"

namespace berth {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Scans JSON text just enough to know strings, depth and keys. It does not validate: in a text that
// is not JSON it finds nothing.
class Scanner {
 public:
  explicit Scanner(std::string_view json) : json_(json) {}

  // The string at $.metadata.resourceVersion.
  std::string_view resource_version() {
    int depth = 0;
    bool in_metadata = false;
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        --depth;
        if (depth == 1 && in_metadata) return {};
      }
      if (c != '"') {
        ++at_;
        continue;
      }
      const std::string_view text = string();
      if (!skip_colon()) continue;  // a value, not a key
      if (depth == 1) in_metadata = text == "metadata";
      if (depth == 2 && in_metadata && text == "resourceVersion") return string();
    }
    return {};
  }

 private:
  // The string that starts at this position, still escaped; empty if there is none.
  std::string_view string() {
    if (at_ >= json_.size() || json_[at_] != '"') return {};
    const std::size_t start = ++at_;
    std::size_t end = std::min(json_.find('"', start), json_.size());
    if (json_[end - 1] == '\\') {  // the quote may be escaped
      while (at_ < json_.size() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
      end = std::min(at_, json_.size());
    }
    at_ = end + 1;
    return json_.substr(start, end - start);
  }
  void skip_space() {
    while (at_ < json_.size() &&
           (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t' || json_[at_] == '\r')) {
      ++at_;
    }
  }
  bool skip_colon() {
    skip_space();
    if (at_ >= json_.size() || json_[at_] != ':') return false;
    ++at_;
    skip_space();
    return true;
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

// Appends the quoted texts of one header value: warn-code SP warn-agent SP quoted-text [SP date], …
void append_warnings(std::string_view value, std::vector<std::string>& out) {
  std::size_t at = 0;
  while (at < value.size()) {
    const std::size_t open = value.find('"', at);
    if (open == std::string_view::npos) return;
    std::string text;
    for (at = open + 1; at < value.size() && value[at] != '"'; ++at) {
      if (value[at] == '\\' && at + 1 < value.size()) ++at;
      text += value[at];
    }
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    // The next warning starts after a comma; a quoted date may come before it.
    for (++at; at < value.size() && value[at] != ','; ++at) {
      if (value[at] == '"') at = std::min(value.find('"', at + 1), value.size() - 1);
    }
  }
}

}  // namespace

bool is_version_too_large(const Error& error) {
  return std::any_of(error.causes.begin(), error.causes.end(), [](const ErrorCause& cause) {
    return cause.reason == "ResourceVersionTooLarge";
  });
}

std::optional<std::string_view> find_header(const std::vector<HttpHeader>& headers,
                                            std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (equal_without_case(header.name, name)) return header.value;
  }
  return std::nullopt;
}

Encoding encoding_of(const std::vector<HttpHeader>& headers) {
  const std::string_view type = find_header(headers, "content-type").value_or("");
  return type.starts_with(kProtobufType) ? Encoding::kProtobuf : Encoding::kJson;
}

std::string scan_resource_version(std::string_view json) {
  return std::string(Scanner(json).resource_version());
}

std::vector<std::string> parse_warnings(const std::vector<HttpHeader>& headers) {
  std::vector<std::string> out;
  for (const HttpHeader& header : headers) {
    if (equal_without_case(header.name, "warning")) append_warnings(header.value, out);
  }
  return out;
}

std::optional<std::chrono::seconds> parse_retry_after(const std::vector<HttpHeader>& headers) {
  const std::optional<std::string_view> value = find_header(headers, "retry-after");
  if (!value) return std::nullopt;
  std::int64_t seconds = 0;
  const char* end = value->data() + value->size();
  const auto [stopped, error] = std::from_chars(value->data(), end, seconds);
  if (error != std::errc() || stopped != end || seconds < 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace berth
