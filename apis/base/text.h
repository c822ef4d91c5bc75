// SPDX-License-Identifier: Apache-2.0
// Text: an interned immutable string. Fifty thousand pods repeat the same few hundred label keys,
// namespaces and node names. The pool stores each once, and a Text is one pointer. Equality is
// pointer equality.
//
// The process has one pool, which is not thread-safe: only one thread of berth uses it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

class Text {
 public:
  Text() = default;                                           // the empty string
  Text(std::string_view value) : rep_(acquire(value)) {}      // NOLINT: implicit, it is a string
  Text(const char* value) : Text(std::string_view(value)) {}  // NOLINT
  Text(const std::string& value) : Text(std::string_view(value)) {}  // NOLINT
  Text(const Text& other) : rep_(other.rep_) { retain(); }
  Text(Text&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }
  Text& operator=(const Text& other) { return *this = Text(other); }
  Text& operator=(Text&& other) noexcept {
    if (this != &other) {
      release();
      rep_ = other.rep_;
      other.rep_ = nullptr;
    }
    return *this;
  }
  ~Text() { release(); }

  std::string_view view() const {
    return rep_ ? std::string_view(rep_->data, rep_->size) : std::string_view();
  }
  operator std::string_view() const { return view(); }
  std::string str() const { return std::string(view()); }
  bool empty() const { return rep_ == nullptr; }

  friend bool operator==(const Text& a, const Text& b) { return a.rep_ == b.rep_; }
  friend bool operator==(const Text& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const Text& a, const char* b) { return a.view() == b; }
  friend std::strong_ordering operator<=>(const Text& a, const Text& b) {
    return a.view() <=> b.view();
  }

  static std::size_t pool_size();   // distinct strings alive, for tests
  static std::size_t pool_bytes();  // of their characters

 private:
  struct Rep {
    std::uint32_t references;
    std::uint32_t size;
    char data[1];  // size bytes follow
  };
  friend struct TextPool;
  static Rep* acquire(std::string_view value);
  static void destroy(Rep* rep);
  void retain() {
    if (rep_ != nullptr) ++rep_->references;
  }
  void release() {
    if (rep_ != nullptr && --rep_->references == 0) destroy(rep_);
    rep_ = nullptr;
  }

  Rep* rep_ = nullptr;
};

}  // namespace berth
