// SPDX-License-Identifier: Apache-2.0
// The API server's audit log as events in the order in which etcd took them: writes are sorted by
// the resourceVersion of their answers (one etcd, one counter for all resources), the writer before
// those who were shown its work by a patch that changed nothing; what has none (evictions,
// bindings, refusals) stands behind the newest write that was answered before it. Reads are left
// out.
#pragma once

#include <string>
#include <vector>

#include "tests/support/object.h"

namespace berth::test {

struct AuditEvent {
  std::string id;
  std::string verb;  // create, update, patch, delete
  std::string resource, subresource, ns, name;
  std::string user, user_agent;
  std::string uri;
  int code = 0;
  std::string received_at, answered_at;  // RFC 3339 with microseconds: they sort as text
  Object request, response;              // null where the policy logs metadata only
  long long revision = 0;                // the order described above

  bool ok() const { return code >= 200 && code < 300; }
  // A sender who dies is answered 504, whether or not etcd took what it sent.
  bool unanswered() const { return code == 504; }
  bool dry_run() const { return uri.find("dryRun=All") != std::string::npos; }
  bool by_berth() const { return user_agent.rfind("berth/", 0) == 0; }
  std::string key() const { return resource + " " + ns + "/" + name; }  // of its object
  std::string describe() const;  // one line for a failure's text
};

// Throws std::runtime_error if the file cannot be read. A last line that is still being written is
// left out.
std::vector<AuditEvent> read_audit_log(const std::string& file);
std::vector<AuditEvent> parse_audit_log(const std::string& json_lines);

// What berth changed, in order: ok, no dry run, no lease, no Event.
std::vector<AuditEvent> writes_of_berth(const std::vector<AuditEvent>& events);

// Events answered after this instant (an AuditEvent's answered_at).
std::vector<AuditEvent> since(const std::vector<AuditEvent>& events,
                              const std::string& answered_at);

}  // namespace berth::test
