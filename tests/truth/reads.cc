// SPDX-License-Identifier: Apache-2.0
// Gets and lists.
#include "tests/truth/query.h"
#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

std::string some_field_selector(ScriptDraft& draft, const Kind& kind) {
  sim::Random& random = draft.random;
  if (random.one_in(8)) return "spec.nothing=x";
  if (kind.plural == "pods" && random.one_in(2))
    return draft.objects.any_of({"spec.nodeName=machine", "spec.nodeName=", "status.phase=Running",
                                 "status.phase!=Pending,spec.nodeName=machine",
                                 "status.phase!=Succeeded,status.phase!=Failed"});
  if (kind.plural == "nodes" && random.one_in(2)) return "spec.unschedulable=true";
  return "metadata.name=" + draft.new_name(kind);
}

void add_version(ScriptDraft& draft, ReadQuery& query) {
  if (draft.random.one_in(10)) {
    query.add_raw("resourceVersion=${start}");
    if (draft.random.one_in(2)) query.add("resourceVersionMatch", "NotOlderThan");
  } else if (draft.random.one_in(12)) {
    query.add("resourceVersionMatch", draft.objects.any_of({"Exact", "NotOlderThan"}));
  }
}

// `query`: the selectors of the list that it continues.
void add_next_page(ScriptDraft& draft, const Kind& kind, ReadQuery query) {
  query.add("limit", "5");
  query.add_raw(draft.random.one_in(15) ? "continue=none" : "continue=${continue}");
  draft.add(Verb::kList, kind, "go on listing", "GET", draft.path(kind) + query.str());
}

}  // namespace

void add_get(ScriptDraft& draft, const Kind& kind) {
  draft.add(Verb::kGet, kind, "get", "GET", draft.path(kind, draft.some_name(kind)));
}

void add_list(ScriptDraft& draft, const Kind& kind) {
  sim::Random& random = draft.random;
  // Pages of all namespaces would depend on other scripts' objects.
  const bool everywhere = kind.namespaced && random.one_in(4);
  const bool pages = !everywhere && random.one_in(3);
  ReadQuery query;
  query.add("labelSelector", some_label_selector(draft, everywhere || !kind.namespaced, false));
  if (random.one_in(3)) query.add("fieldSelector", some_field_selector(draft, kind));
  const ReadQuery selectors = query;
  if (pages) query.add("limit", draft.objects.any_of({"1", "2"}));
  add_version(draft, query);
  const std::string path = everywhere ? collection_path(kind, "") : draft.path(kind);
  draft.add(Verb::kList, kind, "list " + query.str(), "GET", path + query.str());
  if (!pages) return;
  if (random.one_in(3)) add_merge_patch(draft, kind);  // a later page has the version of the first
  add_next_page(draft, kind, selectors);
}

}  // namespace berth::truth
