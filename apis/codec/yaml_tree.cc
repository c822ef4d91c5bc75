// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace berth {
namespace {

constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;
constexpr std::size_t kMaxNodes = 2'000'000;  // of one document
constexpr std::size_t kMaxDocuments = 100'000;
constexpr std::size_t kMaxDepth = 64;

struct TooMuch : std::runtime_error {
  TooMuch(int at, const std::string& message) : std::runtime_error(message), line(at) {}
  int line;
};

// Builds one document from yaml-cpp's events.
class Builder : public YAML::EventHandler {
 public:
  YamlDocument take() { return std::move(document_); }
  // The position of the last scalar that is quoted or has a tag.
  const YAML::Mark& last_tagged() const { return last_tagged_; }

  void OnDocumentStart(const YAML::Mark& mark) override { document_.line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(YamlNode::Kind::kScalar, mark, "?", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    int at = add(YamlNode::Kind::kAlias, mark, "?", 0);
    document_.nodes[static_cast<std::size_t>(at)].children.push_back(anchors_[anchor]);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    int at = add(YamlNode::Kind::kScalar, mark, tag, anchor);
    document_.nodes[static_cast<std::size_t>(at)].text = value;
    if (tag != "?") last_tagged_ = mark;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(add(YamlNode::Kind::kSequence, mark, tag, anchor), mark);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(add(YamlNode::Kind::kMapping, mark, tag, anchor), mark);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  int add(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
          YAML::anchor_t anchor) {
    if (document_.nodes.size() >= kMaxNodes)
      throw TooMuch(mark.line + 1, "the document is too large");
    int at = static_cast<int>(document_.nodes.size());
    document_.nodes.push_back(YamlNode{.kind = kind, .tag = tag, .line = mark.line + 1});
    if (!open_.empty())
      document_.nodes[static_cast<std::size_t>(open_.back())].children.push_back(at);
    if (anchor != 0) anchors_[anchor] = at;
    return at;
  }

  void open(int at, const YAML::Mark& mark) {
    if (open_.size() >= kMaxDepth)
      throw TooMuch(mark.line + 1, "the document is nested too deeply");
    open_.push_back(at);
  }

  YamlDocument document_;
  YAML::Mark last_tagged_ = YAML::Mark::null_mark();
  std::vector<int> open_;
  std::map<YAML::anchor_t, int> anchors_;
};

// The length of the UTF-8 character at `at`; 0 if there is no valid one.
std::size_t character_length(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto follows = [&](std::size_t count) {
    if (at + count >= text.size()) return false;
    for (std::size_t i = 1; i <= count; ++i) {
      if ((byte(at + i) & 0xC0) != 0x80) return false;
    }
    return true;
  };
  unsigned char first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!follows(2) || (first == 0xE0 && byte(at + 1) < 0xA0)) return 0;
    return first == 0xED && byte(at + 1) >= 0xA0 ? 0 : 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!follows(3) || (first == 0xF0 && byte(at + 1) < 0x90)) return 0;
    return first == 0xF4 && byte(at + 1) >= 0x90 ? 0 : 4;
  }
  return 0;
}

// The text in the form that yaml-cpp needs: one kind of line end and no byte order mark. Control
// characters and broken UTF-8 are errors. yaml-cpp would treat one control character as the end of
// the file.
std::string normalise(std::string_view text, std::vector<YamlError>& errors) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string clean;
  clean.reserve(text.size());
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\r') {
      if (i + 1 >= text.size() || text[i + 1] != '\n') clean.push_back('\n'), ++line;
      ++i;
      continue;
    }
    if (c == '\n') ++line;
    if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F) {
      errors.push_back(
          {line,
           fmt::format("a control character (0x{:02x}) is here; text may not contain one", c)});
      return "";
    }
    std::size_t length = character_length(text, i);
    if (length == 0) {
      errors.push_back({line, "the text is not UTF-8 here; save the file as UTF-8"});
      return "";
    }
    clean.append(text.substr(i, length));
    i += length;
  }
  return clean;
}

// yaml-cpp reads a quote without an end up to the end of the file. Only the last quoted scalar of a
// stream can be one.
bool is_quote_open(std::string_view text, const YAML::Mark& mark) {
  if (mark.is_null()) return false;
  auto start = text.find_first_of("\"'\n", static_cast<std::size_t>(mark.pos));
  if (start == std::string_view::npos || text[start] == '\n') return false;  // tagged, not quoted
  char quote = text[start];
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) return false;
      ++i;
    }
  }
  return true;
}

// yaml-cpp treats a tab at the start of a line as text, and then reports an error there or in the
// next line. Returns the nearest line around `line` that starts with a tab; else 0.
int line_with_tab(std::string_view text, int line) {
  std::vector<std::string_view> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  for (const int at : {line, line - 1, line + 1}) {
    if (at < 1 || at > static_cast<int>(lines.size())) continue;
    const std::string_view one = lines[static_cast<std::size_t>(at - 1)];
    const std::size_t begin = one.find_first_not_of(" \t");
    if (begin != one.npos && one.substr(0, begin).find('\t') != one.npos) return at;
  }
  return 0;
}

YamlError syntax_error(const YAML::Exception& error, std::string_view text) {
  const int line = std::max(error.mark.line + 1, 0);
  if (const int at = line_with_tab(text, line); at > 0)
    return {at, "starts with a tab; YAML wants spaces to indent"};
  return {line, "is not valid YAML: " + error.msg};
}

}  // namespace

YamlStream parse_yaml(std::string_view text) {
  YamlStream stream;
  if (text.size() > kMaxBytes) {
    stream.errors.push_back(
        {0, fmt::format("the file is larger than {} MiB", kMaxBytes / 1024 / 1024)});
    return stream;
  }
  const std::string clean = normalise(text, stream.errors);
  if (!stream.errors.empty()) return stream;
  std::istringstream in(clean);
  try {
    YAML::Parser parser(in);
    while (stream.documents.size() < kMaxDocuments) {
      Builder builder;
      if (!parser.HandleNextDocument(builder)) return stream;
      if (is_quote_open(clean, builder.last_tagged())) {
        stream.errors.push_back({builder.last_tagged().line + 1,
                                 "is not valid YAML: a quote is opened here and never closed"});
        return stream;
      }
      stream.documents.push_back(builder.take());
    }
    stream.errors.push_back(
        {0, fmt::format("the file holds more than {} documents", kMaxDocuments)});
  } catch (const TooMuch& error) {
    stream.errors.push_back({error.line, error.what()});
  } catch (const YAML::Exception& error) {
    stream.errors.push_back(syntax_error(error, clean));
  }
  return stream;
}

}  // namespace berth
