// SPDX-License-Identifier: Apache-2.0
// Manifest files of users and attackers.
#include "apis/codec/manifest.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

std::string json_of(const std::string& text) {
  Manifest manifest = parse_manifest(text, "f");
  std::string all;
  for (const Finding& finding : manifest.findings) all += "! " + format(finding) + "\n";
  for (const ManifestDocument& document : manifest.documents) all += document.json + "\n";
  if (!all.empty()) all.pop_back();
  return all;
}

struct ScalarCase {
  const char* yaml;
  const char* json;
};

// How sigs.k8s.io/yaml, and so kubectl and the API server, read untagged scalars.
TEST(Manifest, TypesScalarsAsKubectlDoes) {
  const ScalarCase cases[] = {
      {"true", "true"},
      {"True", "true"},
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"no", "false"},
      {"OFF", "false"},
      {"n", "false"},
      {"yEs", "\"yEs\""},
      {"null", "null"},
      {"~", "null"},
      {"", "null"},
      {"Null", "null"},
      {"nil", "\"nil\""},
      {"0", "0"},
      {"-7", "-7"},
      {"+7", "7"},
      {"1_000", "1000"},
      {"010", "8"},
      {"0o10", "8"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"08", "8"},
      {"1.5", "1.5"},
      {"1e3", "1000"},
      {"2.0", "2"},
      {".5", "0.5"},
      {"1.", "1"},
      {"1e", "\"1e\""},
      {"1.2.3", "\"1.2.3\""},
      {"30m", "\"30m\""},
      {"10%", "\"10%\""},
      {"1:30", "\"1:30\""},
      {"0x", "\"0x\""},
      {"-", "[null]"},
      {"\"7\"", "\"7\""},
      {"'yes'", "\"yes\""},
      {"!!str 7", "\"7\""},
      {"!!int 7", "7"},
      {"!mine 7", "\"7\""},
      {"2026-11-21", "\"2026-11-21\""},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"\"\\u00e9\"", "\"\xC3\xA9\""},
      {"1e999", "\"1e999\""},
      {"\xF0\x9F\x9A\x80", "\"\xF0\x9F\x9A\x80\""},
      {"\xEF\xBF\xBD", "\"\xEF\xBF\xBD\""},
  };
  for (const ScalarCase& c : cases) {
    EXPECT_EQ(json_of(std::string("a: ") + (std::string(c.yaml) == "-" ? "\n  -" : c.yaml) + "\n"),
              std::string("{\"a\":") + c.json + "}")
        << c.yaml;
  }
  EXPECT_EQ(json_of("1: a\ntrue: b\n2.5: c\n\"3\": d"),
            R"({"1":"a","2.5":"c","3":"d","true":"b"})");
}

TEST(Manifest, ReadsDocumentsListsAndJson) {
  EXPECT_EQ(json_of("# nothing\n---\na: 1\n---\n---\n# still nothing\n---\nb: 2\n...\n"),
            "{\"a\":1}\n{\"b\":2}");
  EXPECT_EQ(json_of("\xEF\xBB\xBF"
                    "a: 1\r\nb:\r\n- x\r\n"),
            R"({"a":1,"b":["x"]})");
  EXPECT_EQ(json_of("{\n\t\"a\": {\"b\": [1, 2.5, \"x\", null, true]}\n}"),
            R"({"a":{"b":[1,2.5,"x",null,true]}})");
  EXPECT_EQ(json_of("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: *x"),
            R"({"a":{"b":1,"c":2},"d":{"b":1,"c":3},"e":{"b":1,"c":2}})");
  EXPECT_EQ(json_of("kind: List\nitems:\n- kind: A\n- kind: B\n"),
            "{\"kind\":\"A\"}\n{\"kind\":\"B\"}");
  EXPECT_EQ(json_of(""), "");

  Manifest manifest = parse_manifest(
      "kind: List\nitems:\n- kind: MIGLayout\n  metadata: {name: x}\n  spec:\n    priority: 1\n",
      "f");
  ASSERT_EQ(manifest.documents.size(), 1u);
  EXPECT_EQ(manifest.documents[0].name, "x");
  EXPECT_EQ(line_of(manifest.documents[0], "spec.priority"), 6);
}

TEST(Manifest, KnowsTheLineOfAFieldOrItsNearestAncestor) {
  Manifest manifest = parse_manifest(
      "# c\nkind: MIGLayout\nmetadata:\n  name: x\nspec:\n  devices:\n  - gpus:\n    - 0\n    - "
      "1\n    profiles:\n      1g.10gb: 7\n",
      "f");
  ASSERT_EQ(manifest.documents.size(), 1u);
  const ManifestDocument& document = manifest.documents[0];
  EXPECT_EQ(document.line, 2);
  EXPECT_EQ(line_of(document, "spec.devices[0].gpus[1]"), 9);
  EXPECT_EQ(line_of(document, "spec.devices[0].gpus[7]"), 7);
  EXPECT_EQ(line_of(document, "spec.devices[0].profiles.1g.10gb"), 11);
  EXPECT_EQ(line_of(document, "spec.devices[0].profiles.3g.40gb"), 10);
  EXPECT_EQ(line_of(document, "spec.rollout.paused"), 5);
  EXPECT_EQ(line_of(document, "status"), 2);
  EXPECT_EQ(line_of(document, ""), 2);
}

TEST(Manifest, PutsFileLineObjectAndFieldIntoEveryMessage) {
  std::string text =
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: x}\nspec:\n  "
      "nodeSelector: {}\n"
      "  devices: [{profiles: {}}]\n  rolout: {}\n";
  Manifest manifest = parse_manifest(text, "dir/f.yaml");
  ASSERT_EQ(manifest.documents.size(), 1u);
  StrictLayout strict = decode_strict(manifest.documents[0], "dir/f.yaml");
  ASSERT_EQ(strict.findings.size(), 1u);
  EXPECT_EQ(format(strict.findings[0]),
            "dir/f.yaml:7: MIGLayout/x: spec.rolout: unknown field; did you mean rollout?");
  EXPECT_EQ(strict.layout.spec.devices.size(), 1u) << "what could be read is there";

  manifest = parse_manifest("kind: A\nmetadata: {name: x}\na:\n  b: 1\n  b: 2\n", "f");
  ASSERT_EQ(manifest.findings.size(), 1u);
  EXPECT_EQ(format(manifest.findings[0]), "f:5: A/x: a.b: is listed twice; remove one of the two");
}

struct GarbageCase {
  const char* what;
  std::string text;
  const char* says;
};

TEST(Manifest, RefusesGarbageWithALine) {
  const GarbageCase cases[] = {
      {"broken indentation", "a: 1\n b: 2\n", "f:2: is not valid YAML"},
      {"an open quote", "a: \"x\nb: 2\n", "is not valid YAML"},
      {"an open brace", "a: {b: 1\n", "is not valid YAML"},
      {"a tab for indentation", "a:\n\tb: 1\n", "f:2: starts with a tab; YAML wants spaces"},
      {"a tab after spaces", "a:\n  b: 1\n \tc: 2\n", "f:3: starts with a tab"},
      {"a tab in a list", "a:\n- b: 1\n\t c: 2\n", "f:3: starts with a tab"},
      {"an unknown alias", "a: *nobody\n", "f:1: is not valid YAML"},
      {"a NUL byte", std::string("a: 1\nb: \0", 9), "f:2: a control character (0x00)"},
      {"an end-of-transmission byte", "a: 1\n\x04", "f:2: a control character (0x04)"},
      {"a DEL", "a: 1\nb: \x7f", "f:2: a control character (0x7f)"},
      {"Latin-1", "a: \xE9t\xE9\n", "f:1: the text is not UTF-8"},
      {"UTF-16",
       std::string("\xFF\xFE"
                   "a\0:\0",
                   6),
       "f:1: the text is not UTF-8"},
      {"an overlong encoding", "a: \xC0\xAF\n", "not UTF-8"},
      {"a surrogate", "a: \xED\xA0\x80\n", "not UTF-8"},
      {"a character cut off", "a: \xE2\x82", "not UTF-8"},
      {"a scalar alone", "hello\n", "f:1: a document must be a map"},
      {"a list alone", "- a\n", "f:1: a document must be a map"},
      {"a map as key", "? {a: 1}\n: b\n", "a key must be plain text"},
      {"an empty key", ": b\n", "a key is missing"},
      {"no number", "a: .nan\n", "f:1: a: .nan is not a number"},
      {"infinity", "a: -.inf\n", "not a number"},
      {"a false tag", "a: !!int x\n", "not of the type"},
      {"an anchor within itself", "a: &x [*x]\n", "nested too deeply"},
      {"deep flow lists", "a: " + std::string(10'000, '[') + "\n", "f:1: "},
      {"deep flow maps",
       "a: " +
           [] {
             std::string s;
             for (int i = 0; i < 10'000; ++i) s += "{a: ";
             return s;
           }(),
       "f:1: "},
      {"a deep block list",
       [] {
         std::string s;
         for (int i = 0; i < 3000; ++i) s += "- ";
         return s;
       }() +
           "x\n",
       "f:1: "},
      {"a bomb of aliases",
       [] {
         std::string s = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
         for (int i = 1; i < 12; ++i) {
           s += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
           for (int j = 0; j < 10; ++j) s += "*a" + std::to_string(i - 1) + (j < 9 ? "," : "]\n");
         }
         return s;
       }(),
       "too large once its aliases are followed"},
      {"seventeen megabytes", std::string(17 * 1024 * 1024, 'x'),
       "f: the file is larger than 16 MiB"},
  };
  for (const GarbageCase& c : cases) {
    Manifest manifest = parse_manifest(c.text, "f");
    ASSERT_FALSE(manifest.findings.empty()) << c.what;
    EXPECT_NE(format(manifest.findings[0]).find(c.says), std::string::npos)
        << c.what << ": " << format(manifest.findings[0]);
    for (const ManifestDocument& document : manifest.documents) decode_strict(document, "f");
  }
}

TEST(Manifest, KeepsTheDocumentsBeforeAnError) {
  Manifest manifest = parse_manifest("a: 1\n---\nb: [\n", "f");
  EXPECT_EQ(manifest.documents.size(), 1u);
  EXPECT_EQ(manifest.findings.size(), 1u);
}

TEST(Manifest, SurvivesTruncationAndChangedBytes) {
  const std::string text =
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: x}\nspec:\n  "
      "nodeSelector: {matchLabels: {a: 'b'}}\n"
      "  devices:\n  - gpus: [0, 1]\n    profiles: &p {3g.40gb: 1, \"1g.10gb\": 2}\n  - profiles: "
      "*p\n  rollout: {maxUnavailable: 10%}\n";
  auto run = [](const std::string& t) {
    for (const ManifestDocument& document : parse_manifest(t, "f").documents)
      decode_strict(document, "f");
  };
  for (std::size_t size = 0; size <= text.size(); ++size) run(text.substr(0, size));
  for (std::size_t at = 0; at < text.size(); at += 2) {
    for (char c : {'\n', '"', '{', ':', '*', '\xFF'}) {
      std::string changed = text;
      changed[at] = c;
      run(changed);
    }
  }
}

// 250 unknown fields, followed by one of the wrong type.
TEST(Manifest, TellsOfTwoHundredFaultsAtMost) {
  std::string text =
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: x}\nspec:\n"
      "  devices: [{profiles: {1g.10gb: 7}}]\n  nodeSelector: 7\n";
  for (int i = 0; i < 250; ++i) text += "  extra" + std::to_string(i) + ": 1\n";
  const Manifest manifest = parse_manifest(text, "f");
  ASSERT_EQ(manifest.documents.size(), 1u);
  EXPECT_EQ(decode_strict(manifest.documents[0], "f").findings.size(), 200u);
}

TEST(Manifest, HoldsItsBoundsInLargeFiles) {
  std::string text =
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: x}\nspec:\n";
  while (text.size() < 200'000) text += "  field" + std::to_string(text.size()) + ": 1\n";
  Manifest manifest = parse_manifest(text, "f");
  ASSERT_EQ(manifest.documents.size(), 1u);
  StrictLayout strict = decode_strict(manifest.documents[0], "f");
  EXPECT_LE(strict.findings.size(), 300u) << "nobody reads ten thousand complaints";

  std::string long_value = "a: \"" + std::string(1'000'000, 'x') + "\"\n";
  EXPECT_EQ(parse_manifest(long_value, "f").documents.size(), 1u);
}

}  // namespace
}  // namespace berth
