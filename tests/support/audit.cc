// SPDX-License-Identifier: Apache-2.0
#include "tests/support/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace berth::test {
namespace {

using nlohmann::json;

bool is_read(const std::string& verb) { return verb == "get" || verb == "list" || verb == "watch"; }

// Most lines are reads, and most bytes are answers: a text search avoids parsing them.
bool looks_like_read(const std::string& line) {
  for (const char* verb : {"\"verb\":\"get\"", "\"verb\":\"list\"", "\"verb\":\"watch\""})
    if (line.find(verb) != std::string::npos &&
        line.find("\"level\":\"Metadata\"") != std::string::npos)
      return true;
  return false;
}

AuditEvent decode(json line) {
  AuditEvent out;
  const json reference = line.value("objectRef", json::object());
  out.id = line.value("auditID", "");
  out.verb = line.value("verb", "");
  out.resource = reference.value("resource", "");
  out.subresource = reference.value("subresource", "");
  out.ns = reference.value("namespace", "");
  out.name = reference.value("name", "");
  out.user = line.value("/user/username"_json_pointer, "");
  out.user_agent = line.value("userAgent", "");
  out.uri = line.value("requestURI", "");
  out.code = line.value("/responseStatus/code"_json_pointer, 0);
  out.received_at = line.value("requestReceivedTimestamp", "");
  out.answered_at = line.value("stageTimestamp", "");
  if (line.contains("requestObject")) out.request = Object(std::move(line["requestObject"]));
  if (line.contains("responseObject")) out.response = Object(std::move(line["responseObject"]));
  if (out.name.empty()) out.name = out.response.name();
  return out;
}

// The answer's place in etcd's order; 0 if the answer has none.
long long own_revision(const AuditEvent& event) {
  const bool moved =
      event.ok() && !event.dry_run() && event.response.has("/metadata/resourceVersion");
  return moved ? event.response.number("/metadata/resourceVersion") : 0;
}

// A merge patch that changes nothing.
bool changes_nothing(const AuditEvent& event, const Object& before) {
  if (event.verb != "patch" || !event.request.value().is_object()) return false;
  json after = before.value();
  after.merge_patch(event.request.value());
  return after == before.value();
}

// If several answers have the same revision of an object, one is the writer's and the others
// changed nothing. The writer is the one whose patch changes the previous object; if several do,
// the first.
void put_writers_first(std::vector<AuditEvent>& events) {
  std::map<std::string, Object> last;
  for (auto from = events.begin(); from != events.end();) {
    auto to = std::find_if(from, events.end(), [&](const AuditEvent& event) {
      return event.revision != from->revision || own_revision(event) == 0;
    });
    if (to - from > 1)
      std::stable_partition(from, to, [&](const AuditEvent& event) {
        return !changes_nothing(event, last[event.key()]);
      });
    if (to == from) ++to;
    for (; from != to; ++from)
      if (own_revision(*from) > 0) last.insert_or_assign(from->key(), from->response);
  }
}

void put_in_order(std::vector<AuditEvent>& events) {
  std::stable_sort(events.begin(), events.end(), [](const AuditEvent& a, const AuditEvent& b) {
    return a.answered_at < b.answered_at;
  });
  long long newest = 0;
  for (AuditEvent& event : events) {
    const long long own = own_revision(event);
    event.revision = own > 0 ? own : newest;
    newest = std::max(newest, event.revision);
  }
  // The answers with that revision come before those that only follow it.
  const auto place = [](const AuditEvent& event) {
    const bool own = own_revision(event) > 0;
    return std::tuple(event.revision, !own, own ? event.received_at : "");
  };
  std::stable_sort(events.begin(), events.end(),
                   [&](const AuditEvent& a, const AuditEvent& b) { return place(a) < place(b); });
  put_writers_first(events);
}

std::vector<AuditEvent> parse(std::istream& in) {
  std::vector<AuditEvent> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || looks_like_read(line)) continue;
    json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded() || parsed.value("stage", "") != "ResponseComplete") continue;
    AuditEvent event = decode(std::move(parsed));
    if (!is_read(event.verb)) out.push_back(std::move(event));
  }
  put_in_order(out);
  return out;
}

}  // namespace

std::string AuditEvent::describe() const {
  const std::string slash_sub = subresource.empty() ? "" : "/" + subresource;
  return fmt::format("{} {} {}{} {}{}{} → {} by {}", answered_at, verb, resource, slash_sub, ns,
                     ns.empty() ? "" : "/", name, code, user_agent.substr(0, user_agent.find(' ')));
}

std::vector<AuditEvent> read_audit_log(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read the audit log " + file);
  return parse(in);
}

std::vector<AuditEvent> parse_audit_log(const std::string& json_lines) {
  std::istringstream in(json_lines);
  return parse(in);
}

std::vector<AuditEvent> writes_of_berth(const std::vector<AuditEvent>& events) {
  std::vector<AuditEvent> out;
  for (const AuditEvent& event : events)
    if (event.by_berth() && event.ok() && !event.dry_run() && event.resource != "leases" &&
        event.resource != "events")
      out.push_back(event);
  return out;
}

std::vector<AuditEvent> since(const std::vector<AuditEvent>& events,
                              const std::string& answered_at) {
  std::vector<AuditEvent> out;
  for (const AuditEvent& event : events)
    if (event.answered_at > answered_at) out.push_back(event);
  return out;
}

}  // namespace berth::test
