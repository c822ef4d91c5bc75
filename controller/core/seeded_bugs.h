// SPDX-License-Identifier: Apache-2.0
// SeededBugs: mistakes that this code could make. A test switches on one at a time, to show that
// the exploration finds it (docs/seeded-bugs.md). They exist only if BERTH_SEEDED_BUGS is defined,
// as in the tests' build. In releases seeded() is a constant false.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace berth {

enum class SeededBug {
  kNone,
  kUncordonUnowned,       // uncordon a node whether or not berth cordoned it
  kUncordonHeld,          // uncordon a node that is held
  kSkipLiveGuard,         // write the label without asking the API server about pods first
  kForgetPodUid,          // evict by name alone
  kTrustSuccess,          // believe mig-manager's success without looking at allocatable
  kIgnoreGone,            // keep the cache as it is after a 410
  kBlindRetry,            // send a patch without the test of the rollout annotation's old text
  kBudgetFromCache,       // count the nodes out of service from the cache, without the ledger
  kTestAbsence,           // test that the annotation is absent instead of its old text
  kNoSettle,              // write the label at once, while bindings are in flight
  kNoEpochTest,           // act on a slot that another leader claimed
  kUnconditionalLedger,   // write the ledger without its resourceVersion
  kIgnoreHold,            // drain a node that is held
  kKeepOldState,          // keep mig.config.state of the run before
  kRelabelSameValue,      // retry with the value that the label already has
  kUncordonEarly,         // uncordon before the layout is verified
  kForceWithoutGrace,     // delete with a grace period of 0
  kForgetSlot,            // never free a slot
  kForgetToUncordon,      // finish and leave the cordon
  kCordonWithoutRecord,   // cordon without the annotation that marks the cordon as berth's
  kIgnoreGuard,           // take nodes out of service whatever capacityGuard says
  kIgnoreUpgrade,         // take nodes out of service that are being upgraded or deleted
  kFightForLabel,         // overwrite a foreign mig.config forever
  kDropFinalizer,         // remove a layout's finalizer while its nodes are out of service
  kTransitionTimes,       // change lastTransitionTime with every status
  kFutureGeneration,      // report a generation that berth has not observed
  kLeadForEver,           // keep writing past the renew deadline
  kApplyUnrendered,       // write a label that mig-manager's file does not contain
  kCompareNames,          // drain a node whose MIG layout is right under another config's name
  kGuessUnsynced,         // answer reviews before the caches have synced
  kMutateAgain,           // add again what the webhook has already added to a pod
  kForgetBypass,          // report no pods that were created without review
  kMutateEverywhere,      // mutate pods in namespaces that have not opted in
  kReplaceBundle,         // publish a new authority in place of the old one, not beside it
  kUnconditionalSecret,   // write a Secret without its resourceVersion
  kSignEarly,             // sign with a new authority before it has been published for a day
  kForgetEarly,           // forget an authority as soon as its last certificate is replaced
  kTrustAnyPair,          // trust a certificate without comparing it with its Secret's key
  kForgetCordon,          // release a failed node and forget that berth cordoned it
  kTrustAnyRecord,        // accept another node's rollout annotation
  kKeepRefusedClaim,      // keep the slot of a node whose cordon the API server refuses
  kAdmitWithoutVersion,   // write the admission ledger without its resourceVersion
  kForgetInFlight,        // drop a ledger entry before its objects show the admission
  kKeepInFlight,          // never drop an entry
  kReleaseAnyVersion,     // release the object of that name whatever its version
  kReleaseWithoutRecord,  // release without an admission record
  kReleaseAnywhere,       // release without pinning to the pool
  kReleasePartOfGang,     // release only the first pod of a gang
  kForgetReleases,        // release only workloads that this process has admitted
  kChargeNothing,         // admit with no charge in the record
  kOpenEveryGate,         // remove other controllers' gates too
  kReleaseWithoutEntry,   // release before the ledger has the entry
  kTakeOverQuotas,        // take over another controller's ResourceQuota of a namespace
  kForgetQuotas,          // keep the ResourceQuota of a namespace that left its queue
  kKeepReason,            // release and keep the annotation that says why it waits
  kIgnoreEdits,           // release a Job whose requests have changed since the decision
  kEvictAdmitted,         // evict the pods of a Job that a queue should requeue
  kRequeueUnasked,        // requeue a Job without asking whether its pods may be evicted
  kClaimInFlight,         // repartition a node for which an admission is in flight
  kPinNobody,             // record a node and leave the choice to the scheduler
  kPinOneTerm,            // pin only the first of several node selector terms
  kKeepOldPin,            // pin a restarted Job and keep its last pin
  kGoAhead,               // release before the workloads ahead have been released
  kDisplaceForNobody,     // evict for an admission that is no longer valid
  kDisplaceNobody,        // name the victims of an admission and evict none
  kDisplaceHalf,          // evict only the first pod of a gang
  kSpareHeld,             // never requeue a running Job that has the hold annotation
  kLendForGood,           // lend capacity that could not be returned
  kWaitForBudgets,        // wait forever while a budget protects borrowed GPUs
  kAwaitHalfGang,         // let half a gang block its StrictFIFO queue forever
  kIgnoreNotice,          // evict before the end of the notice period
  kWaitForEver,           // keep waiting for victims that are gone
  kAwaitFirst,            // wait only for the first pod of a gang
  kAwaitSpared,           // wait for victims that need not leave any more
  kEvictReplacements,     // evict the pods that replaced the victims
  kPinUnmodelled,         // pin a workload with constraints that berth does not model
  kForgetPinned,          // count a node as free until the pinned pods are bound
  kIgnoreRules,           // choose nodes whatever selectors and taints say
  kGrowForEver,           // ignore workloads that wait for new nodes of an elastic pool
  kIgnoreTopology,        // let a gang that requires one topology domain spread
  kChargeWhoCame,         // charge a gang that starts fast only for its present pods
  kIgnoreDepartures,      // start work on nodes that are about to be deleted
  kStayStranded,          // leave a gang in place although one of its nodes is being deleted
  kForgetSetbacks,        // requeue work that is never ready without counting the attempts
  kIgnoreBudget,          // admit although the queue's GPU hours are used up
  kCountUseAnew,          // after a restart, count use again that was already counted
  kForgetUse,             // start the count of use at zero with each process
  kUseWithoutVersion,     // write the use checkpoint without its resourceVersion
  kForgetReservation,     // reserve nothing for a queue head that has waited too long
  kIgnoreFraction,        // cordon whatever fraction of a pool looks broken
  kTakeOverCordon,        // take over an existing cordon as berth's
  kBelieveOldErrors,      // take an old error in a gauge for a new one
  kBlameTheUnmeasured,    // treat a node without measurements as broken
  kBlamePrograms,         // blame the GPU for an error of a program
  kForgetFlapping,        // put a node back into service as soon as the first time
  kRecoverUnmeasured,     // put a node back into service that no exporter measures
  kArgueWithPeople,       // cordon a node again that a user has uncordoned
  kIgnoreHealthHold,      // cordon a broken node that is held
  kDrainUnasked,          // drain a broken node whatever the policy says
  kForgetHealthCordon,    // put a node back into service and leave its cordon
  kBlameTheYoung,         // count the time before a pod arrived as its idle time
  kBridgeGaps,            // count a gap in the samples as idle time
  kBelieveOldSamples,     // use the last sample, however old
  kForgetWarning,         // reclaim GPUs before the end of the warning period
  kKeepWarning,           // leave the warning on a pod that is busy again
  kTakeTheBusy,           // reclaim from a pod that became busy in the meantime
  kTakeUnasked,           // reclaim idle GPUs although no workload waits for them
  kTakeAllIdle,           // reclaim all idle GPUs, however few are needed
  kForgetYields,          // let a workload take back the idle GPUs that it lost
  kLetIdleQueue,          // requeue an idle workload at once
  kIdleInPart,            // treat a workload as idle if one of its pods is
  kHotAtOnce,             // treat one hot sample as lasting heat
  kAwaitAllLeaving,       // wait for all terminating pods, also if they hang or are not needed
  kOfferDeleted,          // admit a Job that is being deleted
  kForgetEnded,           // let a gang wait for members that have succeeded
  kReleaseUncovered,      // release a member with its gang's record, whatever it requests
  kForgetRestart,    // drop a gang's admission with its last pod, even if a restart re-creates it
  kBelieveHearsay,   // act on Prometheus whatever the node's own exporter shows
  kTrustEveryOwner,  // evict pods whose controller then fails for good
  kCountAbsence,     // count the time in which no leader worked as patience
  kTrustAnyClock,    // use deadlines and windows while the clock is wrong
  kIgnoreStop,       // start rollouts and requeue workloads while berth is stopped
  kOutliveHistory,   // keep leading after the API server's history went back
  kStripAtOnce,      // remove sharing at a deletion, whatever budgets and windows say
  kAwaitTheDead,     // count pods that can't leave a dead node as leaving
  kPinToTheDead,     // leave a replacement pinned to a node that is out of service
  kForceUnasked,     // force-delete pods that did not ask for it
};

inline constexpr std::array<std::pair<std::string_view, SeededBug>, 127> kSeededBugs{{
    {"uncordon-unowned", SeededBug::kUncordonUnowned},
    {"uncordon-held", SeededBug::kUncordonHeld},
    {"skip-live-guard", SeededBug::kSkipLiveGuard},
    {"forget-pod-uid", SeededBug::kForgetPodUid},
    {"trust-success", SeededBug::kTrustSuccess},
    {"ignore-gone", SeededBug::kIgnoreGone},
    {"blind-retry", SeededBug::kBlindRetry},
    {"budget-from-cache", SeededBug::kBudgetFromCache},
    {"test-absence", SeededBug::kTestAbsence},
    {"no-settle", SeededBug::kNoSettle},
    {"no-epoch-test", SeededBug::kNoEpochTest},
    {"unconditional-ledger", SeededBug::kUnconditionalLedger},
    {"ignore-hold", SeededBug::kIgnoreHold},
    {"keep-old-state", SeededBug::kKeepOldState},
    {"relabel-same-value", SeededBug::kRelabelSameValue},
    {"uncordon-early", SeededBug::kUncordonEarly},
    {"force-without-grace", SeededBug::kForceWithoutGrace},
    {"forget-slot", SeededBug::kForgetSlot},
    {"forget-to-uncordon", SeededBug::kForgetToUncordon},
    {"cordon-without-record", SeededBug::kCordonWithoutRecord},
    {"ignore-guard", SeededBug::kIgnoreGuard},
    {"ignore-upgrade", SeededBug::kIgnoreUpgrade},
    {"fight-for-label", SeededBug::kFightForLabel},
    {"drop-finalizer", SeededBug::kDropFinalizer},
    {"transition-times", SeededBug::kTransitionTimes},
    {"future-generation", SeededBug::kFutureGeneration},
    {"lead-for-ever", SeededBug::kLeadForEver},
    {"apply-unrendered", SeededBug::kApplyUnrendered},
    {"compare-names", SeededBug::kCompareNames},
    {"guess-unsynced", SeededBug::kGuessUnsynced},
    {"mutate-again", SeededBug::kMutateAgain},
    {"forget-bypass", SeededBug::kForgetBypass},
    {"mutate-everywhere", SeededBug::kMutateEverywhere},
    {"replace-bundle", SeededBug::kReplaceBundle},
    {"unconditional-secret", SeededBug::kUnconditionalSecret},
    {"sign-early", SeededBug::kSignEarly},
    {"forget-early", SeededBug::kForgetEarly},
    {"trust-any-pair", SeededBug::kTrustAnyPair},
    {"forget-cordon", SeededBug::kForgetCordon},
    {"trust-any-record", SeededBug::kTrustAnyRecord},
    {"keep-refused-claim", SeededBug::kKeepRefusedClaim},
    {"admit-without-version", SeededBug::kAdmitWithoutVersion},
    {"forget-in-flight", SeededBug::kForgetInFlight},
    {"keep-in-flight", SeededBug::kKeepInFlight},
    {"release-any-version", SeededBug::kReleaseAnyVersion},
    {"release-without-record", SeededBug::kReleaseWithoutRecord},
    {"release-anywhere", SeededBug::kReleaseAnywhere},
    {"release-part-of-gang", SeededBug::kReleasePartOfGang},
    {"forget-releases", SeededBug::kForgetReleases},
    {"charge-nothing", SeededBug::kChargeNothing},
    {"open-every-gate", SeededBug::kOpenEveryGate},
    {"release-without-entry", SeededBug::kReleaseWithoutEntry},
    {"take-over-quotas", SeededBug::kTakeOverQuotas},
    {"forget-quotas", SeededBug::kForgetQuotas},
    {"keep-reason", SeededBug::kKeepReason},
    {"ignore-edits", SeededBug::kIgnoreEdits},
    {"evict-admitted", SeededBug::kEvictAdmitted},
    {"requeue-unasked", SeededBug::kRequeueUnasked},
    {"claim-in-flight", SeededBug::kClaimInFlight},
    {"pin-nobody", SeededBug::kPinNobody},
    {"pin-one-term", SeededBug::kPinOneTerm},
    {"keep-old-pin", SeededBug::kKeepOldPin},
    {"go-ahead", SeededBug::kGoAhead},
    {"displace-for-nobody", SeededBug::kDisplaceForNobody},
    {"displace-nobody", SeededBug::kDisplaceNobody},
    {"displace-half", SeededBug::kDisplaceHalf},
    {"spare-held", SeededBug::kSpareHeld},
    {"lend-for-good", SeededBug::kLendForGood},
    {"wait-for-budgets", SeededBug::kWaitForBudgets},
    {"await-half-gang", SeededBug::kAwaitHalfGang},
    {"ignore-notice", SeededBug::kIgnoreNotice},
    {"wait-for-ever", SeededBug::kWaitForEver},
    {"await-first", SeededBug::kAwaitFirst},
    {"await-spared", SeededBug::kAwaitSpared},
    {"evict-replacements", SeededBug::kEvictReplacements},
    {"pin-unmodelled", SeededBug::kPinUnmodelled},
    {"forget-pinned", SeededBug::kForgetPinned},
    {"ignore-rules", SeededBug::kIgnoreRules},
    {"grow-for-ever", SeededBug::kGrowForEver},
    {"ignore-topology", SeededBug::kIgnoreTopology},
    {"charge-who-came", SeededBug::kChargeWhoCame},
    {"ignore-departures", SeededBug::kIgnoreDepartures},
    {"stay-stranded", SeededBug::kStayStranded},
    {"forget-setbacks", SeededBug::kForgetSetbacks},
    {"ignore-budget", SeededBug::kIgnoreBudget},
    {"count-use-anew", SeededBug::kCountUseAnew},
    {"forget-use", SeededBug::kForgetUse},
    {"use-without-version", SeededBug::kUseWithoutVersion},
    {"forget-reservation", SeededBug::kForgetReservation},
    {"ignore-fraction", SeededBug::kIgnoreFraction},
    {"take-over-cordon", SeededBug::kTakeOverCordon},
    {"believe-old-errors", SeededBug::kBelieveOldErrors},
    {"blame-the-unmeasured", SeededBug::kBlameTheUnmeasured},
    {"blame-programs", SeededBug::kBlamePrograms},
    {"forget-flapping", SeededBug::kForgetFlapping},
    {"recover-unmeasured", SeededBug::kRecoverUnmeasured},
    {"argue-with-people", SeededBug::kArgueWithPeople},
    {"ignore-health-hold", SeededBug::kIgnoreHealthHold},
    {"drain-unasked", SeededBug::kDrainUnasked},
    {"forget-health-cordon", SeededBug::kForgetHealthCordon},
    {"blame-the-young", SeededBug::kBlameTheYoung},
    {"bridge-gaps", SeededBug::kBridgeGaps},
    {"believe-old-samples", SeededBug::kBelieveOldSamples},
    {"forget-warning", SeededBug::kForgetWarning},
    {"keep-warning", SeededBug::kKeepWarning},
    {"take-the-busy", SeededBug::kTakeTheBusy},
    {"take-unasked", SeededBug::kTakeUnasked},
    {"take-all-idle", SeededBug::kTakeAllIdle},
    {"forget-yields", SeededBug::kForgetYields},
    {"let-idle-queue", SeededBug::kLetIdleQueue},
    {"idle-in-part", SeededBug::kIdleInPart},
    {"hot-at-once", SeededBug::kHotAtOnce},
    {"await-all-leaving", SeededBug::kAwaitAllLeaving},
    {"offer-deleted", SeededBug::kOfferDeleted},
    {"forget-ended", SeededBug::kForgetEnded},
    {"release-uncovered", SeededBug::kReleaseUncovered},
    {"forget-restart", SeededBug::kForgetRestart},
    {"believe-hearsay", SeededBug::kBelieveHearsay},
    {"trust-every-owner", SeededBug::kTrustEveryOwner},
    {"count-absence", SeededBug::kCountAbsence},
    {"trust-any-clock", SeededBug::kTrustAnyClock},
    {"ignore-stop", SeededBug::kIgnoreStop},
    {"outlive-history", SeededBug::kOutliveHistory},
    {"strip-at-once", SeededBug::kStripAtOnce},
    {"await-the-dead", SeededBug::kAwaitTheDead},
    {"pin-to-the-dead", SeededBug::kPinToTheDead},
    {"force-unasked", SeededBug::kForceUnasked},
}};

#ifdef BERTH_SEEDED_BUGS
// At most one is on, from before anything else runs.
inline SeededBug seeded_bug = SeededBug::kNone;
inline bool seeded(SeededBug bug) { return seeded_bug == bug; }
#else
constexpr bool seeded(SeededBug) { return false; }
#endif

}  // namespace berth
