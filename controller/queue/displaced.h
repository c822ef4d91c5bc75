// SPDX-License-Identifier: Apache-2.0
// Displaced: running work that an admission in the ledger takes back, or may take back (rule 9).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/preemption.h"
#include "controller/queue/queue_report.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

// Why it can't be taken back; empty: it can. It can if it is a Job that can be suspended, or pods
// that their controller creates again and that the API server would evict, as far as it was asked.
std::string why_not_displaced(const Snapshot& snapshot, const Workload& workload);
bool may_be_displaced(const Snapshot& snapshot, const Workload& workload);

// Whether it stays whatever budgets say: nobody would create its pods again, or their owner would
// fail, as far as that is known.
bool never_goes(const Snapshot& snapshot, const Workload& workload);

// Until when what is taken back for the entry may be kept: its notice, and where it has borrowed
// and only budgets keep it, the time that the reclaiming queue leaves them.
Time keeps_until(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry);

// Whether its controller, when it was read, would have failed.
bool is_kept_by_owner(const Snapshot& snapshot, const Workload& workload);

// For a workload that waits: the first running workload that its queue could take back for it, but
// for this reason: "; Pod/a/b can't be taken back: REASON". Empty: there is none.
std::string describe_kept(const Snapshot& snapshot, const Outcome& outcome);

// With that, as of now. The snapshot must outlive them.
PreemptionTerms preemption_terms(const Snapshot& snapshot);

// What the API server is to be asked before it is; nothing of a Job, or where the answers stand.
std::vector<ObjectSteps> asks_before(const Snapshot& snapshot, const Workload& workload);

// The admission for which it is taken back, and which still waits for that; null: none.
const LedgerFact* displaced_for(const Snapshot& snapshot, const Workload& workload);

// It ends, and its queue has it again. Nothing while its notice runs, but that notice.
Plan plan_displaced(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry);

// As the ledger names them. Of those ahead of an admission, who has not gone yet.
AheadFact ahead_fact(const Ahead& ahead);
bool still_holds(const FactsIndex& facts, const AheadFact& ahead);

// Until when the work that is taken back for the entry is told of it.
Time notice_ends(const Snapshot& snapshot, const LedgerFact& entry);
// Whether it is on its way out.
bool is_leaving(const FactsIndex& facts, const AheadFact& ahead);

}  // namespace berth::queue
