// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/query.h"
#include "tests/truth/verbs.h"

namespace berth::truth {
namespace {

// The start of a watch for past events: the script's start, or the version of one of its objects.
std::string some_version(ScriptDraft& draft, const Kind& kind) {
  if (!draft.random.one_in(3)) return "${start}";
  return ScriptDraft::placeholder("since", kind, draft.some_name(kind));
}

std::string add_marker(ScriptDraft& draft, const Kind& kind) {
  std::string name = kind.namespaced ? "end" : draft.name() + "-end";
  nlohmann::json object = draft.objects.full(kind, name);
  object["metadata"].erase("finalizers");
  object["metadata"]["labels"]["a"] = "x";
  if (kind.plural == "pods")
    for (const char* field : {"priority", "priorityClassName", "preemptionPolicy", "nodeName"})
      object["spec"].erase(field);
  Operation& marker = draft.add(Verb::kCreate, kind, "mark the end", "POST",
                                draft.path(kind) + "?fieldManager=script");
  marker.body = object.dump();
  return name;
}

void add_wrong_watch(ScriptDraft& draft, const Kind& kind) {
  const std::string query = draft.objects.any_of({
      "&resourceVersionMatch=NotOlderThan",
      "&sendInitialEvents=true",
      "&sendInitialEvents=true&resourceVersionMatch=Exact",
      "&resourceVersionMatch=Exact",
      "&resourceVersion=none",
      "&labelSelector=a%20in%20x",
      "&fieldSelector=spec.nothing%3Dx",
  });
  draft.add(Verb::kWatch, kind, "watch wrongly", "GET", draft.path(kind) + "?watch=true" + query);
}

}  // namespace

void add_watch(ScriptDraft& draft, const Kind& kind) {
  sim::Random& random = draft.random;
  if (random.one_in(10)) add_wrong_watch(draft, kind);
  const std::string last = add_marker(draft, kind);
  const bool everywhere = kind.namespaced && random.one_in(3);
  const bool from_what_is = random.one_in(3);
  ReadQuery query;
  query.add("watch", "true");
  query.add("timeoutSeconds", "10");
  query.add("allowWatchBookmarks", from_what_is || random.one_in(2) ? "true" : "");
  query.add("labelSelector", some_label_selector(draft, everywhere || !kind.namespaced, true));
  if (from_what_is) {
    query.add("sendInitialEvents", "true");
    query.add("resourceVersionMatch", "NotOlderThan");
    // With an older version the server may answer an older state.
    if (random.one_in(2))
      query.add_raw("resourceVersion=" + ScriptDraft::placeholder("rv", kind, last));
    if (random.one_in(3)) query.add("fieldSelector", "metadata.name=" + draft.some_name(kind));
  } else {
    query.add_raw("resourceVersion=" + some_version(draft, kind));
    if (kind.plural == "pods" && random.one_in(3))
      query.add("fieldSelector", "status.phase=Pending");
  }
  draft.add(Verb::kWatch, kind, from_what_is ? "watch from what there is" : "watch from a version",
            "GET", (everywhere ? collection_path(kind, "") : draft.path(kind)) + query.str());
}

}  // namespace berth::truth
