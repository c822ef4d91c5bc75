// SPDX-License-Identifier: Apache-2.0
#include "controller/client/discovery.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace berth {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};

std::string name_of(const ResourceNeed& need) {
  std::string name(need.kind.plural);
  if (!need.subresource.empty()) name.append("/").append(need.subresource);
  return name;
}

std::string with_body(std::string name, std::string_view body) {
  if (!body.empty()) name.append(" (").append(body).append(")");
  return name;
}

// The text of a JSON object's member; empty if it is absent or no text.
std::string text_of(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Lack> find_lack(const ServedResources& served, const ResourceNeed& need) {
  const auto found = served.find(with_body(name_of(need), need.body));
  if (found == served.end()) return Lack{need, {}};
  Lack lack{need, {}};
  for (const std::string_view verb : need.verbs)
    if (!found->second.contains(std::string(verb))) lack.verbs.emplace_back(verb);
  if (lack.verbs.empty()) return std::nullopt;
  return lack;
}

}  // namespace

std::string describe(const ResourceNeed& need) {
  const std::string own = api_version(need.kind);
  return with_body(name_of(need), need.body.empty() ? own : need.body);
}

Result<ServedResources> decode_served_resources(std::string_view json) {
  const nlohmann::json list = nlohmann::json::parse(json, nullptr, false);
  if (!list.is_object() || text_of(list, "kind") != "APIResourceList" ||
      !list.contains("resources") || !list["resources"].is_array())
    return decode_error("APIResourceList", "the reply is not a list of resources");
  const std::string own = text_of(list, "groupVersion");
  ServedResources served;
  for (const nlohmann::json& resource : list["resources"]) {
    if (!resource.is_object()) continue;
    const std::string group = text_of(resource, "group");
    std::string body = text_of(resource, "version");
    if (!group.empty()) body = group + "/" + body;
    if (body == own) body.clear();
    std::set<std::string>& verbs = served[with_body(text_of(resource, "name"), body)];
    const auto named = resource.find("verbs");
    if (named == resource.end() || !named->is_array()) continue;
    for (const nlohmann::json& verb : *named)
      if (verb.is_string()) verbs.insert(verb.get<std::string>());
  }
  return served;
}

Task<DiscoveryReport> fetch_lacks(ApiClient& client, std::vector<ResourceNeed> needs,
                                  std::stop_token stop) {
  DiscoveryReport report;
  std::map<std::string, std::vector<ResourceNeed>> by_group;
  std::vector<std::string> groups;
  for (ResourceNeed& need : needs) {
    std::string group = (need.kind.group.empty() ? "/api/" : "/apis/") + api_version(need.kind);
    if (!by_group.contains(group)) groups.push_back(group);
    by_group[std::move(group)].push_back(std::move(need));
  }
  for (const std::string& group : groups) {
    CallOptions call(Lane::kWrite, stop, kDeadline);
    ApiRequest request = get_request(group);
    const Result<Reply> reply = co_await client.send(std::move(request), std::move(call));
    Result<ServedResources> served = ServedResources();
    if (reply.has_value()) served = decode_served_resources(reply->body);
    // not found: the server serves nothing of it
    else if (reply.error().kind != ErrorKind::kNotFound)
      served = reply.error();
    if (!served.has_value()) {
      report.unknown.push_back(served.error());
      report.unknown.back().where = "GET " + group;
      // no reply from the server: stop asking
      if (!reply.has_value() && reply.error().http_code == 0) break;
      continue;
    }
    for (const ResourceNeed& need : by_group[group])
      if (std::optional<Lack> lack = find_lack(*served, need))
        report.lacks.push_back(std::move(*lack));
  }
  co_return report;
}

}  // namespace berth
