// SPDX-License-Identifier: Apache-2.0
// Jobs with the admission of another object: restored from a backup, or copied.
#include "apis/base/names.h"
#include "controller/queue/index/cluster_index.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using RestoredTest = AdmissionsTest;

// The output of `kubectl get job -o yaml` for a running Job of another cluster.
berth::Job restored() {
  berth::Job job = job_of("a", "train", 4);
  job.meta.annotations.set(
      names::kAdmittedAnnotation,
      R"({"uid":"of another","queue":"vision","pool":"gone","selectsPool":true,"nodes":["old-n7"]})");
  auto fields = job.pod_shape.edit();
  fields->node_selector.set(names::kPoolLabel, "gone");
  NodeSelectorTerm& term = fields->required_node_affinity.emplace_back();
  term.match_fields.push_back(
      {.key = "metadata.name", .op = SelectorOperator::kIn, .values = {"old-n7"}});
  return job;
}

TEST_F(RestoredTest, AJobIsAdmittedByItselfAndLosesTheNodesOfTheOther) {
  add(restored());
  begin(), decide();
  ASSERT_FALSE(in_flight().empty()) << "the old node holds it nowhere";
  const Plan release = reconcile_release(snapshot(), "Job/a/train");
  ASSERT_FALSE(release.empty());
  const std::string body = body_of(release).dump();
  EXPECT_THAT(body, Not(HasSubstr("old-n7")));
  EXPECT_THAT(body, Not(HasSubstr("gone")));
  EXPECT_THAT(body, HasSubstr("requiredDuringSchedulingIgnoredDuringExecution"))
      << "or the old pin would stay";
}

TEST_F(RestoredTest, ThePoolThatAUserAskedForStays) {
  berth::Job job = restored();
  job.meta.annotations.set(
      names::kAdmittedAnnotation,
      R"({"uid":"of another","queue":"vision","pool":"gone","nodes":["old-n7"]})");
  add(job);
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "no pool of that name exists";
}

}  // namespace
}  // namespace berth::queue
