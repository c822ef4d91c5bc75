// SPDX-License-Identifier: Apache-2.0
// The requests that each verb adds to a script: mostly one, on some object of the kind.
#pragma once

#include "tests/truth/script_draft.h"

namespace berth::truth {

void add_create(ScriptDraft& draft, const Kind& kind);
void add_get(ScriptDraft& draft, const Kind& kind);
void add_list(ScriptDraft& draft, const Kind& kind);
void add_update(ScriptDraft& draft, const Kind& kind);
void add_status_update(ScriptDraft& draft, const Kind& kind);
void add_json_patch(ScriptDraft& draft, const Kind& kind);
void add_merge_patch(ScriptDraft& draft, const Kind& kind);
void add_status_patch(ScriptDraft& draft, const Kind& kind);
void add_apply(ScriptDraft& draft, const Kind& kind);
void add_delete(ScriptDraft& draft, const Kind& kind);
void add_eviction(ScriptDraft& draft, const Kind& pods);
// Only at the end of a script: it creates the object that marks the end of the watch.
void add_watch(ScriptDraft& draft, const Kind& kind);

}  // namespace berth::truth
