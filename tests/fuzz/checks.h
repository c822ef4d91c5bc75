// SPDX-License-Identifier: Apache-2.0
// What must hold for each kind of foreign bytes. If the input comes in pieces, its first byte is
// their size minus one.
#pragma once

#include <string_view>

#include "tests/fuzz/target.h"

namespace berth::test {

// A watch stream after the size of its pieces. The pieces, blanks and the order of fields do not
// matter; JSON and protobuf give the same objects; skipped parts change nothing.
Verdict check_watch_json(std::string_view input);
Verdict check_watch_protobuf(std::string_view input);
// A list's body: its items are equal to those decoded one by one.
Verdict check_list_json(std::string_view body);
Verdict check_list_protobuf(std::string_view body);

// An AdmissionReview: the answer is bounded JSON, its patch applies, and a second review adds
// nothing.
Verdict check_review(std::string_view body);

// A client's bytes after the size of its pieces: requests do not depend on the pieces, no body
// exceeds its limit, and the memory of POSTs is released.
Verdict check_http1(std::string_view input);
// Commands of two bytes and their data: a client that makes a handshake, writes, and corrupts
// bytes. The server gets what was written up to the first corruption.
Verdict check_tls(std::string_view input);

// A value is printed so that it reads as the same value.
Verdict check_quantity(std::string_view text);
Verdict check_time(std::string_view text);
// A product's label, then a profile and a count per line: a placement is valid, and an impossible
// set gets a reason.
Verdict check_geometry(std::string_view text);

// Findings have a line of the file and are few; a document's JSON is a document with the same JSON;
// the controller reads what berth validate accepts in the same way.
Verdict check_manifest(std::string_view text);
Verdict check_scenario(std::string_view text);
// The objects of `berth import` are valid and read back equal; what it can't import is reported.
Verdict check_import(std::string_view text);
// Errors name the file, and never repeat a plugin's output.
Verdict check_kubeconfig(std::string_view text);
Verdict check_exec_credential(std::string_view output);
// A file for mig-manager is written as it was read.
Verdict check_agent_file(std::string_view text);
// The device plugin's file: berth's keys differ from others', and an existing default is kept.
Verdict check_plugin_file(std::string_view text);

// A node's annotation: it is written as it is read, and the index of rollouts agrees with it.
Verdict check_annotation(std::string_view text);
// The ledger's ConfigMap: a leader's claim is read back, and what it writes is JSON.
Verdict check_ledger(std::string_view json);
// A part of the history: it is read back as packed, and a line is written as it was read.
Verdict check_history(std::string_view text);
// A start and a duration (four bytes and one), then a cron schedule: openings are where a
// minute-by-minute search finds them.
Verdict check_schedule(std::string_view input);
// {"selector":…,"labels":…}: by Kubernetes' rules for selectors, evaluated on the JSON itself.
Verdict check_selector(std::string_view json);

// A code's two bytes, header lines, an empty line and a body: a reply of an API server.
Verdict check_reply(std::string_view input);
// An exporter's text: each line means the same alone, and the result has no more GPUs than the
// cluster.
Verdict check_exposition(std::string_view text);
// Prometheus' answer after the size of its pieces, which do not matter: its series are those of the
// JSON.
Verdict check_prometheus(std::string_view input);
// An object, a newline, a patch: the result of nlohmann's library.
Verdict check_patch(std::string_view input);
// Certificates in PEM, from a Secret.
Verdict check_certificate(std::string_view pem);

}  // namespace berth::test
