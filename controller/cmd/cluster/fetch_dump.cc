// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/fetch_dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "controller/client/list_bounds.h"
#include "controller/client/resource_path.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/cluster/wanted.h"
#include "controller/cmd/line/console.h"
#include "controller/dump/dump.h"
#include "controller/explain/rights.h"

namespace berth {
namespace {

// A continue token is valid for minutes; a list that takes longer starts again.
constexpr int kTries = 3;

ApiRequest request_for(const Wanted& wanted, const std::string& continue_token) {
  if (!wanted.name.empty())
    return get_request(object_path(wanted.kind, ObjectKey{wanted.namespace_, wanted.name}));
  return list_request(wanted.kind, {.namespace_ = wanted.namespace_,
                                    .continue_token = continue_token,
                                    .field_selector = wanted.field_selector,
                                    .label_selector = wanted.label_selector});
}

Error cannot_read(const Wanted& wanted, Error error) {
  error.where = fmt::format("cannot read {}{}", wanted.kind.plural,
                            wanted.namespace_.empty() ? "" : " in " + wanted.namespace_);
  return error;
}

// Why the dump can do without it; "" if it can't.
std::string done_without(const Wanted& wanted, const Error& error) {
  if (wanted.optional_for.empty()) return {};
  if (error.kind == ErrorKind::kForbidden)
    return fmt::format("this account may not read {}{}: {}", wanted.kind.plural,
                       wanted.name.empty() ? "" : "/" + wanted.name, wanted.optional_for);
  if (error.kind == ErrorKind::kNotFound)
    return fmt::format(
        "the API server does not serve {}: {}{}", wanted.kind.plural, wanted.optional_for,
        wanted.kind.group == names::kGroup ? " (install berth's CRDs: kubectl apply -f crds/)"
                                           : "");
  return {};
}

Unread unread_of(const Wanted& wanted, const Error& error) {
  const KindInfo& kind = wanted.kind;
  return {.resource = kind.group.empty() ? std::string(kind.plural)
                                         : fmt::format("{}.{}", kind.plural, kind.group),
          .namespace_ = wanted.namespace_,
          .instead = {},
          .reason = error.kind == ErrorKind::kNotFound ? "NotFound" : "Forbidden",
          .message = error.message};
}

// Narrows the request to what an account with rights in one namespace may read.
bool narrow(Wanted& wanted, const std::string& namespace_) {
  const bool whole = wanted.name.empty() && wanted.namespace_.empty();
  if (namespace_.empty() || !whole) return false;
  if (wanted.kind.kind == kKind<Namespace>.kind)
    wanted.name = namespace_;
  else if (wanted.kind.namespaced)
    wanted.namespace_ = namespace_;
  else
    return false;
  return true;
}

Task<Result<void>> fetch_pages(ApiClient& client, DumpWriter& writer, Wanted wanted,
                               std::stop_token stop) {
  std::string token;
  ListBounds bounds;
  do {
    ApiRequest request = request_for(wanted, token);
    CallOptions options(Lane::kBulk, stop);
    Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
    if (!reply.has_value()) co_return std::move(reply).error();
    if (!wanted.name.empty()) co_return writer.add_object(wanted.kind, reply->body);
    Result<std::string> next = writer.add_list(wanted.kind, reply->body);
    if (!next.has_value()) co_return std::move(next).error();
    token = std::move(*next);
    // The writer does not report the number of objects, so this counts pages.
    if (std::string bound = bounds.take_page(0, reply->body.size(), token); !bound.empty())
      co_return decode_error("", "berth rejects the API server's answer: " + std::move(bound));
  } while (!token.empty());
  co_return Result<void>();
}

// The resources that the dump lacks.
struct Gaps {
  std::vector<std::string> notes;
  std::vector<Unread> unread;
};

// `tolerant`: a forbidden list is a gap; the namespace's part is read if possible.
Task<Result<void>> fetch(ApiClient& client, DumpWriter& writer, Gaps& gaps, Wanted wanted,
                         bool tolerant, std::string namespace_, std::stop_token stop) {
  bool narrowed = false;
  for (;;) {
    Result<void> fetched = co_await fetch_pages(client, writer, wanted, stop);
    if (fetched.has_value()) co_return fetched;
    Error error = fetched.error();
    const bool missing = error.kind == ErrorKind::kNotFound;
    if (missing && wanted.may_be_missing) {
      if (wanted.in_silence) gaps.unread.push_back(unread_of(wanted, error));
      co_return Result<void>();
    }
    const bool told_as_gap = tolerant && error.kind == ErrorKind::kForbidden;
    if (std::string note = done_without(wanted, error); !told_as_gap && !note.empty()) {
      gaps.notes.push_back(std::move(note));
      co_return Result<void>();
    }
    if (error.kind != ErrorKind::kForbidden) co_return cannot_read(wanted, std::move(error));
    if (narrowed) {
      gaps.unread.back().instead.clear();
      co_return Result<void>();
    }
    gaps.unread.push_back(unread_of(wanted, error));
    narrowed = tolerant && narrow(wanted, namespace_);
    if (!narrowed) co_return Result<void>();
    gaps.unread.back().instead = namespace_;
  }
}

// One message for everything, with the command that grants the rights.
Error may_not_read(const std::vector<Unread>& unread, const Settings& settings) {
  const MissingRights rights = missing_rights(unread, RightsFor::kCluster, settings);
  return Error{.kind = ErrorKind::kForbidden,
               .message = fmt::format("this account may not read {}; to grant it: {}",
                                      fmt::join(rights.resources, ", "), rights.grant)};
}

// Files of NVIDIA's node components that ClusterPolicies name and the list lacks.
std::vector<Wanted> named_files(const DumpWriter& writer, const std::vector<Wanted>& all,
                                const Settings& settings) {
  std::vector<Wanted> files;
  for (const std::string& name : writer.files_of_agents()) {
    Wanted file = wanted_file_of_agents(settings, name);
    const bool is_listed = std::ranges::any_of(all, [&](const Wanted& one) {
      return one.kind.kind == file.kind.kind && one.namespace_ == file.namespace_ &&
             one.name == name;
    });
    if (!name.empty() && !is_listed) files.push_back(std::move(file));
  }
  return files;
}

// Reads everything in the list; if the query is tolerant, all readable parts.
Task<Result<std::string>> fetch_all(ApiClient& client, std::vector<Wanted> all, DumpQuery query,
                                    std::vector<std::string>& notes, std::stop_token stop) {
  for (int attempt = 1;; ++attempt) {
    DumpWriter writer(query.namespace_);
    Gaps gaps;
    Result<void> fetched;
    bool essential = false;  // something necessary is missing
    std::vector<Wanted> rest = all;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const Wanted wanted = rest[i];
      const std::size_t before = gaps.unread.size();
      fetched =
          co_await fetch(client, writer, gaps, wanted, query.tolerant, query.namespace_, stop);
      if (!fetched.has_value()) break;
      essential |= gaps.unread.size() > before && !wanted.in_silence;
      if (i + 1 == all.size())
        for (Wanted& file : named_files(writer, all, query.settings))
          rest.push_back(std::move(file));
    }
    if (fetched.has_value()) {
      if (essential && !query.tolerant) co_return may_not_read(gaps.unread, query.settings);
      for (const Unread& unread : gaps.unread) writer.add_unread(unread);
      notes = std::move(gaps.notes);
      co_return writer.str(client.loop().wall_now());
    }
    if (fetched.error().kind != ErrorKind::kGone || attempt == kTries) co_return fetched.error();
  }
}

}  // namespace

Task<Result<std::string>> fetch_dump(ApiClient& client, DumpQuery query,
                                     std::vector<std::string>& notes, std::stop_token stop) {
  std::vector<Wanted> all = wanted_of_cluster(query.settings);
  if (query.workloads)
    for (Wanted& more : wanted_of_workloads(query.namespace_)) all.push_back(std::move(more));
  return fetch_all(client, std::move(all), std::move(query), notes, std::move(stop));
}

Task<Result<std::string>> fetch_clues(ApiClient& client, DumpQuery query,
                                      std::vector<std::string>& notes, std::stop_token stop) {
  std::vector<Wanted> all = wanted_of_workloads(query.namespace_);
  for (Wanted& one : wanted_of_cluster(query.settings))
    if (one.kind.kind == kKind<Lease>.kind) all.push_back(std::move(one));
  return fetch_all(client, std::move(all), std::move(query), notes, std::move(stop));
}

Result<std::string> dump_of_cluster(const ConfigFlags& connection, const DumpQuery& query) {
  std::string server;
  std::vector<std::string> notes;
  Result<std::string> dump =
      converse(connection, server, [&](ApiClient& client, std::stop_token stop) {
        return fetch_dump(client, query, notes, std::move(stop));
      });
  for (const std::string& note : notes) complain("note: " + note);
  if (!dump && !server.empty()) {
    Error error = std::move(dump).error();
    error.where = server + (error.where.empty() ? "" : ": " + error.where);
    return error;
  }
  return dump;
}

}  // namespace berth
