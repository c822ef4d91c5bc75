// SPDX-License-Identifier: Apache-2.0
// The API server's verdict on the tables that tests/apis/bad_manifests_test.cc holds strict
// decoding to: the same verdict, the same field.
#include <algorithm>

#include "tests/apiserver/plane_fixture.h"
#include "tests/support/manifest_cases.h"

namespace berth::test {
namespace {

class BadManifests : public PlaneTest {
 protected:
  // As YAML, so that the server's own reader types the scalars; Strict, so that unknown and
  // duplicate fields are refused.
  static Reply dry_run(const std::string& yaml) {
    return kube().send("POST",
                       "/apis/gpu.berth.dev/v1alpha1/miglayouts?dryRun=All&fieldValidation=Strict",
                       yaml, "application/yaml");
  }
};

TEST_F(BadManifests, AreRefusedByTheServerInTheSameField) {
  std::vector<ManifestCase> cases = read_manifest_cases("bad_manifests.yaml");
  ASSERT_GE(cases.size(), 80u);
  for (ManifestCase& c : cases) {
    Reply reply = dry_run(c.text);
    EXPECT_TRUE(reply.status == 422 || reply.status == 400)
        << c.says["case"] << ": " << reply.status;
    std::vector<Object> causes = reply.body.items("/details/causes");
    bool named = std::any_of(causes.begin(), causes.end(), [&](const Object& cause) {
      return cause.text("/field") == c.says["field"];
    });
    // What does not even decode is a 400, whose sentence names the field without a cause; its words
    // stand in the table where they differ.
    const std::string& words = c.says.count("server") ? c.says["server"] : c.says["field"];
    named = named ||
            (reply.status == 400 && reply.body.text("/message").find(words) != std::string::npos);
    EXPECT_TRUE(named) << c.says["case"] << ": wanted " << c.says["field"] << ", got "
                       << reply.body.dump();
  }
}

TEST_F(BadManifests, ThoseAtTheEdgeAndTheExamplesAreTaken) {
  for (ManifestCase& c : read_manifest_cases("good_manifests.yaml")) {
    Reply reply = dry_run(c.text);
    EXPECT_TRUE(reply.ok()) << c.says["case"] << ": " << reply.body.text("/message");
  }
  for (const char* name :
       {"miglayout-a100-mixed", "miglayout-a100-single", "miglayout-disable-mig"}) {
    std::string file = std::string(BERTH_SOURCE_DIR) + "/examples/" + name + ".yaml";
    Reply reply = dry_run(read_file(file));
    EXPECT_TRUE(reply.ok()) << name << ": " << reply.body.text("/message");
  }
}

}  // namespace
}  // namespace berth::test
