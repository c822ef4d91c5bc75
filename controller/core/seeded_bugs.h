// SPDX-License-Identifier: Apache-2.0
// SeededBugs: mistakes that this code could make, to be switched on one at a time where the
// exploration has to show that it would find them (docs/seeded-bugs.md). Compiled in only with
// BERTH_SEEDED_BUGS, which the tests' build sets and no release: there, seeded() is false at
// compile time.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace berth {

enum class SeededBug {
  kNone,
  kUncordonUnowned,       // uncordon a node whether or not berth cordoned it
  kUncordonHeld,          // uncordon a node that a person holds
  kSkipLiveGuard,         // write the label without asking the API server about pods first
  kForgetPodUid,          // evict by name alone
  kTrustSuccess,          // believe mig-manager's success without looking at allocatable
  kIgnoreGone,            // a 410 leaves the cache as it is
  kBlindRetry,            // send a patch without the test of the record's old text
  kBudgetFromCache,       // count the nodes that are out from the cache, without the ledger
  kTestAbsence,           // test that the annotation is not there instead of its old text
  kNoSettle,              // write the label at once, with bindings in flight
  kNoEpochTest,           // act on a slot that another leader claimed
  kUnconditionalLedger,   // write the ledger without its resourceVersion
  kIgnoreHold,            // drain a node that a person holds
  kKeepOldState,          // leave mig.config.state of the run before
  kRelabelSameValue,      // try again with the very value that stands
  kUncordonEarly,         // uncordon before the layout is verified
  kForceWithoutGrace,     // delete with a grace period of 0
  kForgetSlot,            // never free a slot
  kForgetToUncordon,      // done, and the cordon stays
  kCordonWithoutRecord,   // a cordon whose annotation does not say that it is berth's
  kIgnoreGuard,           // take nodes whatever capacityGuard says
  kIgnoreUpgrade,         // take nodes that are being upgraded or deleted
  kFightForLabel,         // overwrite a foreign mig.config for ever
  kDropFinalizer,         // let a layout go while its nodes are out
  kTransitionTimes,       // move lastTransitionTime with every status
  kFutureGeneration,      // tell of a generation that was not looked at
  kLeadForEver,           // write on past the renew deadline
  kApplyUnrendered,       // write a label that the agents' file does not hold
  kCompareNames,          // drain a node whose GPUs are right under another config's name
  kGuessUnsynced,         // answer reviews before the caches are full
  kMutateAgain,           // add to a pod what the webhook has added before
  kForgetBypass,          // say nothing of pods that came past the webhook
  kMutateEverywhere,      // change pods of namespaces that have not opted in
  kReplaceBundle,         // publish a new authority in place of the one before
  kUnconditionalSecret,   // write a Secret without its resourceVersion
  kSignEarly,             // sign with a new authority before it has been known for a day
  kForgetEarly,           // forget an authority as soon as its last certificate is replaced
  kTrustAnyPair,          // take a certificate for its Secret's key's without a look
  kForgetCordon,          // let a failed node go and forget that berth cordoned it
  kTrustAnyRecord,        // take another node's record for this one's
  kKeepRefusedClaim,      // hold the slot of a node whose cordon is refused
  kAdmitWithoutVersion,   // write the ledger of admissions without its resourceVersion
  kForgetInFlight,        // drop what is in flight before its objects show it
  kKeepInFlight,          // never drop an entry
  kReleaseAnyVersion,     // let go whatever has the name, in whatever version
  kReleaseWithoutRecord,  // let go without a word of with what
  kReleaseAnywhere,       // let go without the pool
  kReleasePartOfGang,     // let the first pod of a gang go alone
  kForgetReleases,        // let go only what this process has decided
  kChargeNothing,         // admit with nothing in the record
  kOpenEveryGate,         // take others' gates away too
  kReleaseWithoutEntry,   // let go before the entry stands
  kTakeOverQuotas,        // bound a namespace by a ResourceQuota of somebody else
  kForgetQuotas,          // leave a namespace bounded that its queue has given up
  kKeepReason,            // let go what goes on saying what it waited for
  kIgnoreEdits,           // let a Job go that asks for something else by now
  kEvictAdmitted,         // evict the pods of a Job that a queue would take back
  kRequeueUnasked,        // take a Job back without asking whether its pods may go
  kClaimInFlight,         // take a node that an admission is on its way to
  kPinNobody,             // record a node and let the scheduler choose
  kPinOneTerm,            // pin in the first of several terms alone
  kKeepOldPin,            // pin a Job that starts again beside its last pin
  kGoAhead,               // let go before those ahead of it have gone
  kDisplaceForNobody,     // take back for an admission that does not stand any more
  kDisplaceNobody,        // name who has to go, and leave them alone
  kDisplaceHalf,          // evict the first of a gang
  kSpareHeld,             // leave what runs to whoever has written that it is held
  kLendForGood,           // lend to what could not be given back
  kWaitForBudgets,        // wait for ever while a budget keeps what is borrowed
  kAwaitHalfGang,         // let half a gang hold up its StrictFIFO queue for ever
  kIgnoreNotice,          // end what is told to save its work before its time
  kWaitForEver,           // keep waiting for those who have gone
  kAwaitFirst,            // wait for the first of a gang alone
  kAwaitSpared,           // wait for those who are not to go any more
  kEvictReplacements,     // evict those who were made anew for the evicted
  kPinUnmodelled,         // pin what else decides where it can run
  kForgetPinned,          // take a node as free until the pinned are bound
  kIgnoreRules,           // choose nodes whatever selectors and taints say
  kGrowForEver,           // forget who waits for nodes that an elastic pool is yet to get
  kIgnoreTopology,        // let a gang that requires one domain spread
  kChargeWhoCame,         // of a gang that starts fast, charge the pods that are there
  kIgnoreDepartures,      // begin on nodes that are about to go
  kStayStranded,          // leave a gang of which a node goes where it is
  kForgetSetbacks,        // take back what is never ready without counting how often
  kIgnoreBudget,          // admit though the queue's GPU hours are used up
  kCountUseAnew,          // after a restart, count again what was counted before it
  kForgetUse,             // begin to count at nothing with each start
  kUseWithoutVersion,     // write the checkpoint of use without its resourceVersion
  kForgetReservation,     // keep nothing for a head that has waited for long
  kIgnoreFraction,        // cordon however much of a pool looks broken
  kTakeOverCordon,        // take a cordon that stands for one of berth's
  kBelieveOldErrors,      // take the last error that a gauge shows for one that has just come
  kBlameTheUnmeasured,    // take a node of which nothing is heard for broken
  kBlamePrograms,         // take an error of a program for one of its GPU
  kForgetFlapping,        // put a node back as soon as it was the first time
  kRecoverUnmeasured,     // put a node back that nobody looks at
  kArgueWithPeople,       // cordon again what a person has put back
  kIgnoreHealthHold,      // cordon a broken node that a person holds
  kDrainUnasked,          // have the pods of a broken node leave whatever the policy says
  kForgetHealthCordon,    // put a node back and leave its cordon
  kBlameTheYoung,         // hold the time before a pod came against it, as idleness
  kBridgeGaps,            // take what nobody looked at for a while for quiet
  kBelieveOldSamples,     // go by what was measured last, however long ago
  kForgetWarning,         // take GPUs back before the time that their pod was told
  kKeepWarning,           // leave the warning on a pod that works again
  kTakeTheBusy,           // take back what has begun to work in the meantime
  kTakeUnasked,           // take idle GPUs back though nobody waits for them
  kTakeAllIdle,           // take back all that is idle, however little is needed
  kForgetYields,          // let who gave idle GPUs up displace who has them
  kLetIdleQueue,          // let what was idle queue again at once
  kIdleInPart,            // take a workload for idle of which one pod is
  kHotAtOnce,             // take one hot look at a GPU for heat that lasts
  kAwaitAllLeaving,       // wait for all that leaves, also for what hangs or is not needed
  kOfferDeleted,          // admit a Job that is being deleted
  kForgetEnded,           // have a gang wait for members that have succeeded
  kReleaseUncovered,      // let a member go by its gang's record, whatever it asks
  kForgetRestart,         // drop a gang's admission with its last pod, whoever re-creates them
  kBelieveHearsay,        // act on what a Prometheus tells, whatever the node's own exporter shows
  kTrustEveryOwner,       // evict pods whose controller then fails for good
  kCountAbsence,          // count time in which no leader tried as patience
  kTrustAnyClock,         // let deadlines pass and windows open by a wrong clock
  kIgnoreStop,            // begin rollouts and take work back while berth is stopped
  kOutliveHistory,        // lead on after the API server's history has gone back
  kStripAtOnce,           // take sharing away at a deletion, whatever budgets and windows say
  kAwaitTheDead,          // count pods that can't leave a dead node as if they would
  kPinToTheDead,          // leave a replacement pinned to a node that is out of service
  kForceUnasked,          // force deletion of pods that did not ask for it
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
// At most one of them is switched on, before anything runs.
inline SeededBug seeded_bug = SeededBug::kNone;
inline bool seeded(SeededBug bug) { return seeded_bug == bug; }
#else
constexpr bool seeded(SeededBug) { return false; }
#endif

}  // namespace berth
