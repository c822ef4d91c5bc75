// SPDX-License-Identifier: Apache-2.0
// The API server's audit log as events, in the order in which etcd applied them. Writes are sorted
// by the resourceVersion of their answers (one etcd, one counter for all resources). If several
// answers have the same resourceVersion, the writer comes before the patches that changed nothing.
// Events without a resourceVersion (evictions, bindings, refusals) follow the newest write that was
// answered before them. Reads are left out.
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
  Object request, response;              // null if the policy logs only metadata
  long long revision = 0;                // the order described above

  bool ok() const { return code >= 200 && code < 300; }
  // If the sender dies, the answer is 504, whether or not etcd applied the write.
  bool unanswered() const { return code == 504; }
  bool dry_run() const { return uri.find("dryRun=All") != std::string::npos; }
  bool by_berth() const { return user_agent.rfind("berth/", 0) == 0; }
  std::string key() const { return resource + " " + ns + "/" + name; }  // identifies the object
  std::string describe() const;  // one line for a failure's text
};

// Throws std::runtime_error if the file can't be read. An incomplete last line is left out.
std::vector<AuditEvent> read_audit_log(const std::string& file);
std::vector<AuditEvent> parse_audit_log(const std::string& json_lines);

// berth's successful changes in order, without dry runs, Leases and Events.
std::vector<AuditEvent> writes_of_berth(const std::vector<AuditEvent>& events);

// Events answered after this instant (an AuditEvent's answered_at).
std::vector<AuditEvent> since(const std::vector<AuditEvent>& events,
                              const std::string& answered_at);

}  // namespace berth::test
