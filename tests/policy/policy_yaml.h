// SPDX-License-Identifier: Apache-2.0
// A GPUClusterPolicy for tests, from its spec as users write it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apis/base/names.h"
#include "apis/codec/manifest.h"

namespace berth::test {

// `spec` is YAML in flow style: "pools: [{name: a, …}]". It has its finalizer, generation 1.
inline GPUClusterPolicy policy(const std::string& spec) {
  const Manifest manifest = parse_manifest(
      "{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUClusterPolicy, metadata: {name: cluster}, "
      "spec: {" +
          spec + "}}",
      "test");
  EXPECT_EQ(manifest.documents.size(), 1u) << spec;
  if (manifest.documents.empty()) return {};
  StrictPolicy strict = decode_strict_policy(manifest.documents.front(), "test");
  for (const Finding& finding : strict.findings) ADD_FAILURE() << format(finding);
  strict.policy.meta.uid = "uid-cluster";
  strict.policy.meta.generation = 1;
  strict.policy.meta.resource_version = "7";
  strict.policy.meta.finalizers = {Text(names::kFinalizer)};
  return strict.policy;
}

}  // namespace berth::test
