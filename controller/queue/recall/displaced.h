// SPDX-License-Identifier: Apache-2.0
// Displaced: running workloads that berth takes back, or may take back, for an admission in the
// ledger (rule 9).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cycle/preemption.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/cycle/verdict.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

// Returns why berth can't take the workload back; empty if it can. berth can suspend a Job. It can
// evict pods that their controller re-creates, unless the API server has refused the eviction.
std::string why_not_displaced(const Snapshot& snapshot, const Workload& workload);
bool may_be_displaced(const Snapshot& snapshot, const Workload& workload);

// Whether berth can't take it back even without disruption budgets. No controller would re-create
// its pods, or their controller would fail, as far as berth knows.
bool never_goes(const Snapshot& snapshot, const Workload& workload);

// Until when the workload keeps running for the entry: the end of its notice. If it has borrowed
// quota and only budgets keep it, the reclaimTimeout of the reclaiming queue comes on top.
Time keeps_until(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry);

// Whether its controller would fail without its pods, as of the last read.
bool is_kept_by_owner(const Snapshot& snapshot, const Workload& workload);

// For a waiting workload: names the first running workload that its queue could take back for it,
// and why berth can't: "; Pod/a/b can't be taken back: REASON". Empty: there is none.
std::string describe_kept(const Snapshot& snapshot, const Outcome& outcome);

// Returns the terms of a preemption at this snapshot's time. The snapshot must outlive them.
PreemptionTerms preemption_terms(const Snapshot& snapshot);

// Returns the questions to the API server before berth may take it back: dry-run evictions and
// reads of controllers. None for a Job, or if fresh answers exist.
std::vector<ObjectSteps> asks_before(const Snapshot& snapshot, const Workload& workload);

// Returns the ledger entry that takes the workload back and still waits for it; null if none.
const LedgerFact* displaced_for(const Snapshot& snapshot, const Workload& workload);

// Ends the workload, so that it waits in its queue again. Before the notice is over it only writes
// the notice.
Plan plan_displaced(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry);

// ahead_fact() names a workload as the ledger does. still_holds() says whether a workload ahead of
// an admission still holds its quota or room.
AheadFact ahead_fact(const Ahead& ahead);
bool still_holds(const FactsIndex& facts, const AheadFact& ahead);

// Returns when the notice to the workloads that the entry takes back is over.
Time notice_ends(const Snapshot& snapshot, const LedgerFact& entry);
// Whether the workload is being deleted or suspended, or is gone.
bool is_leaving(const FactsIndex& facts, const AheadFact& ahead);

}  // namespace berth::queue
