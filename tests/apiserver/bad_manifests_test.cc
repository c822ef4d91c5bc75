// SPDX-License-Identifier: Apache-2.0
// The API server's verdict on the tables of tests/apis/bad_manifests_test.cc, which test strict
// decoding: the same verdict and the same field.
#include <algorithm>

#include "tests/apiserver/plane_fixture.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

class BadManifests : public PlaneTest {
 protected:
  // As YAML, so that the server's own reader types the scalars; Strict, so that it refuses unknown
  // and duplicate fields.
  static Reply dry_run(const std::string& plural, const std::string& yaml) {
    return kube().send(
        "POST", "/apis/gpu.berth.dev/v1alpha1/" + plural + "?dryRun=All&fieldValidation=Strict",
        yaml, "application/yaml");
  }

  static void expect_refused(const std::string& plural, const std::string& file);
  static void expect_taken(const std::string& plural, const std::string& file,
                           std::initializer_list<const char*> examples);
};

void BadManifests::expect_refused(const std::string& plural, const std::string& file) {
  for (ManifestCase& c : read_manifest_cases(file)) {
    Reply reply = dry_run(plural, c.text);
    EXPECT_TRUE(reply.status == 422 || reply.status == 400)
        << c.says["case"] << ": " << reply.status;
    std::vector<Object> causes = reply.body.items("/details/causes");
    bool named = std::any_of(causes.begin(), causes.end(), [&](const Object& cause) {
      return cause.text("/field") == c.says["field"];
    });
    // A body that can't be decoded gets a 400 whose message names the field but has no cause; the
    // table has different texts for these.
    const std::string& words = c.says.count("server") ? c.says["server"] : c.says["field"];
    named = named ||
            (reply.status == 400 && reply.body.text("/message").find(words) != std::string::npos);
    EXPECT_TRUE(named) << c.says["case"] << ": wanted " << c.says["field"] << ", got "
                       << reply.body.dump();
  }
}

void BadManifests::expect_taken(const std::string& plural, const std::string& file,
                                std::initializer_list<const char*> examples) {
  for (ManifestCase& c : read_manifest_cases(file)) {
    Reply reply = dry_run(plural, c.text);
    EXPECT_TRUE(reply.ok()) << c.says["case"] << ": " << reply.body.text("/message");
  }
  for (const char* name : examples) {
    Reply reply = dry_run(plural, read_file(source_dir() + "/examples/" + name + ".yaml"));
    EXPECT_TRUE(reply.ok()) << name << ": " << reply.body.text("/message");
  }
}

TEST_F(BadManifests, AreRefusedByTheServerInTheSameField) {
  expect_refused("miglayouts", "bad_manifests.yaml");
  expect_refused("gpuclusterpolicies", "bad_policies.yaml");
  expect_refused("gpuqueues", "bad_queues.yaml");
}

TEST_F(BadManifests, ThoseAtTheEdgeAndTheExamplesAreTaken) {
  expect_taken("miglayouts", "good_manifests.yaml",
               {"miglayout-a100-mixed", "miglayout-a100-single", "miglayout-disable-mig",
                "mig-inference/layout", "multi-tenant/layout"});
  expect_taken("gpuclusterpolicies", "good_policies.yaml",
               {"policy/cluster", "multi-tenant/policy", "mistakes/policies/unknown-taint"});
  expect_taken("gpuqueues", "good_queues.yaml", {});
}

}  // namespace
}  // namespace berth::test
