// SPDX-License-Identifier: Apache-2.0
// Manifests with a part that can't be represented.
#include <gtest/gtest.h>

#include "apis/codec/manifest.h"

namespace berth {
namespace {

// A value without JSON leaves nothing that could pass for a manifest.
TEST(Manifest, WhatCannotBeRepresentedIsNoDocumentAndIsToldOnce) {
  for (const char* text :
       {"a: .nan\nb: .inf\nc: .nan\n", "a: [.nan, .inf]\nb: .nan\n", "a: {b: .nan, c: .inf}\n",
        "? {a: 1}\n: b\nc: .nan\n", "a: !!int x\nb: !!int y\n", "a: &x [*x, *x]\nb: *x\n",
        "x: &x {k: .nan}\ny:\n  <<: *x\n", "a: 1\n<<: 7\n", "a: 1\n<<: [7, 8]\n", "<<: .nan\n",
        ".nan: a\n<<: 7\n"}) {
    const Manifest manifest = parse_manifest(text, "f");
    EXPECT_TRUE(manifest.documents.empty()) << text;
    EXPECT_EQ(manifest.findings.size(), 1u) << text;
  }
  const Manifest two = parse_manifest("a: .nan\n---\nb: 1\n---\nc: .nan\n", "f");
  EXPECT_EQ(two.documents.size(), 1u) << "another of the file's is none the worse for it";
  EXPECT_EQ(two.findings.size(), 2u);
}

}  // namespace
}  // namespace berth
