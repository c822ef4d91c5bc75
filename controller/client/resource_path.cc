// SPDX-License-Identifier: Apache-2.0
#include "controller/client/resource_path.h"

#include <algorithm>

namespace berth {
namespace {

bool is_unreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string escape_url(std::string_view text) {
  if (std::ranges::all_of(text, is_unreserved)) return std::string(text);
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const unsigned char c : text) {
    if (is_unreserved(c)) {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
  return out;
}

std::string collection_path(const KindInfo& kind, std::string_view namespace_) {
  std::string path = kind.group.empty() ? "/api/" : "/apis/" + escape_url(kind.group) + "/";
  path += escape_url(kind.version);
  if (kind.namespaced && !namespace_.empty()) path += "/namespaces/" + escape_url(namespace_);
  return path + "/" + escape_url(kind.plural);
}

std::string object_path(const KindInfo& kind, const ObjectKey& key, std::string_view subresource) {
  // A proxy could treat a name of "." or ".." as a step in the path. No such object exists, so it
  // is enough that the escaped dots reach the server as a name.
  std::string name = escape_url(key.name);
  if (name == ".") name = "%2E";
  if (name == "..") name = "%2E%2E";
  std::string path = collection_path(kind, key.namespace_) + "/" + name;
  if (!subresource.empty()) path += "/" + escape_url(subresource);
  return path;
}

Query& Query::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  text_ += text_.empty() ? '?' : '&';
  text_ += escape_url(name);
  text_ += '=';
  text_ += escape_url(value);
  return *this;
}

Query& Query::add_flag(std::string_view name, bool value) {
  return value ? add(name, "true") : *this;
}

}  // namespace berth
