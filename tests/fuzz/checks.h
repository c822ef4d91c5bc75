// SPDX-License-Identifier: Apache-2.0
// What must hold of each kind of foreign bytes, whatever they are. Where an input says of itself in
// which pieces it comes, its first byte is their size less one.
#pragma once

#include <string_view>

#include "tests/fuzz/target.h"

namespace berth::test {

// A watch stream behind the size of its pieces. The pieces don't matter, nor do blanks and the
// order of fields; JSON and protobuf give the same objects; what is stepped over changes nothing.
Verdict check_watch_json(std::string_view input);
Verdict check_watch_protobuf(std::string_view input);
// A list's body: its items are those that would be read alone.
Verdict check_list_json(std::string_view body);
Verdict check_list_protobuf(std::string_view body);

// An AdmissionReview: the answer is JSON and bounded, a patch applies and is all there is to do.
Verdict check_review(std::string_view body);

// What a client says, behind the size of its pieces: requests don't depend on them, no body is
// beyond its limit, and the room of POSTs is given back.
Verdict check_http1(std::string_view input);
// Commands of two bytes and what they take: a client that shakes hands, writes, and breaks what it
// writes. What is heard is what was written up to the first break.
Verdict check_tls(std::string_view input);

// What was read is printed so that it is read as the same.
Verdict check_quantity(std::string_view text);
Verdict check_time(std::string_view text);
// A product's label, then a profile and a count in each line: a placement is one, and a set that
// has none is told why.
Verdict check_geometry(std::string_view text);

// Findings have a line of the file and end somewhere; the JSON of a document is a document of the
// same JSON; what berth validate lets pass the controller reads as the same.
Verdict check_manifest(std::string_view text);
Verdict check_scenario(std::string_view text);
// What `berth import` makes is valid, and is read back as it was made; what it can't make is told.
Verdict check_import(std::string_view text);
// Errors name the file; what a plugin printed is repeated by none.
Verdict check_kubeconfig(std::string_view text);
Verdict check_exec_credential(std::string_view output);
// A file for mig-manager that was read is written as what it was read as.
Verdict check_agent_file(std::string_view text);
// The device plugin's: berth's keys are told from others', and a default that stands is kept.
Verdict check_plugin_file(std::string_view text);

// A node's annotation: written as it is read, and the index of nodes under way agrees with it.
Verdict check_annotation(std::string_view text);
// The ledger's ConfigMap: what a leader claims is read as claimed, what it writes is JSON.
Verdict check_ledger(std::string_view json);
// A part of the history: what is packed is read back, and a line is written as it was read.
Verdict check_history(std::string_view text);
// A start and a duration, four bytes and one, then a cron schedule: openings are where the schedule
// says, found minute by minute.
Verdict check_schedule(std::string_view input);
// {"selector":…,"labels":…}: as Kubernetes' words on selectors say, read from the JSON itself.
Verdict check_selector(std::string_view json);

// A code's two bytes, headers in lines, an empty line and a body, as an API server may reply.
Verdict check_reply(std::string_view input);
// What an exporter serves: its lines are what they are alone, and what they make of a cluster is no
// more than the cluster has.
Verdict check_exposition(std::string_view text);
// Prometheus' answer to a query, behind the size of its pieces, which don't matter: its series are
// those that the JSON has.
Verdict check_prometheus(std::string_view input);
// An object, a newline, a patch: as nlohmann's library applies it.
Verdict check_patch(std::string_view input);
// Certificates in PEM, from a Secret.
Verdict check_certificate(std::string_view pem);

}  // namespace berth::test
