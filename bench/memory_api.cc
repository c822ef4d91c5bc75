// SPDX-License-Identifier: Apache-2.0
#include "bench/memory_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>

namespace berth {
namespace {

using nlohmann::json;

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& h : request.headers) {
    if (std::equal(h.name.begin(), h.name.end(), name.begin(), name.end(),
                   [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; }))
      return h.value;
  }
  return "";
}

std::string status(int code, const char* reason) {
  return json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
              {"reason", reason}, {"message", reason},  {"code", code}}
      .dump();
}

// A JSON patch as the API server applies it: `test` against null holds for an absent key.
std::optional<json> patch(const json& object, const json& operations) {
  json strict = json::array();
  for (const json& operation : operations) {
    const bool absent = operation["op"] == "test" && operation["value"].is_null() &&
                        !object.contains(json::json_pointer(operation["path"].get<std::string>()));
    if (!absent) strict.push_back(operation);
  }
  try {
    return object.patch(strict);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string namespace_in(const json& object) {
  return object["metadata"].value("namespace", std::string());
}

}  // namespace

// /api/v1/namespaces/NS/pods/NAME/eviction?query, /apis/GROUP/VERSION/RESOURCE
struct MemoryApi::Target {
  std::string resource;
  Key key;
  std::string subresource;
  std::map<std::string, std::string> query;

  explicit Target(std::string_view text) {
    const std::size_t mark = text.find('?');
    std::vector<std::string> parts;
    for (std::string_view rest = text.substr(1, mark - 1); !rest.empty();) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      parts.emplace_back(rest.substr(0, slash));
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    std::size_t at = parts.at(0) == "api" ? 2 : 3;
    if (parts.size() > at + 2 && parts[at] == "namespaces") {
      key.first = parts[at + 1];
      at += 2;
    }
    if (parts.size() > at) resource = parts[at];
    if (parts.size() > at + 1) key.second = parts[at + 1];
    if (parts.size() > at + 2) subresource = parts[at + 2];
    if (mark == std::string_view::npos) return;
    std::istringstream pairs{std::string(text.substr(mark + 1))};
    for (std::string pair; std::getline(pairs, pair, '&');) {
      const std::size_t equals = pair.find('=');
      query[pair.substr(0, equals)] = unescape(pair.substr(equals + 1));
    }
  }
  // The value that a fieldSelector wants of a field, or nothing.
  std::optional<std::string> selected(const std::string& field) const {
    const auto selector = query.find("fieldSelector");
    if (selector == query.end()) return std::nullopt;
    const std::size_t at = selector->second.find(field + "=");
    if (at == std::string::npos) return std::nullopt;
    const std::size_t from = at + field.size() + 1;
    return selector->second.substr(from, selector->second.find(',', from) - from);
  }
};

void MemoryApi::start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
                      std::stop_token stop) {
  const Inside inside(*this);
  if (hooks_.on_leaving) hooks_.on_leaving(request);
  loop_.post([this, request = std::move(request), sink = std::move(sink), stop] {
    const Inside answering(*this);
    const Target target(request.target);
    if (target.query.contains("watch")) return open_watch(target, sink, stop);
    reply(sink, answer(request, target));
  });
}

void MemoryApi::reply(std::shared_ptr<ResponseSink> sink, Answer answer) {
  loop_.post([sink = std::move(sink), answer = std::move(answer)] {
    sink->on_head(answer.status, {{"content-type", "application/json"}});
    sink->on_bytes(answer.body);
    sink->on_end(TransportOutcome::kComplete, "");
  });
}

MemoryApi::Answer MemoryApi::answer(const HttpRequest& request, const Target& target) {
  if (request.method != "GET") return write(request, target);
  if (target.key.second.empty()) return list(target);
  const auto& objects = objects_[target.resource];
  const auto found = objects.find(target.key);
  if (found == objects.end()) return {404, status(404, "NotFound")};
  return {200, found->second.dump()};
}

MemoryApi::Answer MemoryApi::list(const Target& target) const {
  json items = json::array();
  const auto add = [&](const json& object) {
    if (target.key.first.empty() || namespace_in(object) == target.key.first)
      items.push_back(object);
  };
  if (const auto node = target.selected("spec.nodeName")) {
    if (const auto pods = pods_on_.find(*node); pods != pods_on_.end())
      for (const auto& [key, pod] : pods->second) add(*pod);
  } else if (const auto objects = objects_.find(target.resource); objects != objects_.end()) {
    for (const auto& [key, object] : objects->second) add(object);
  }
  return {200, json{{"kind", "List"},
                    {"apiVersion", "v1"},
                    {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                    {"items", items}}
                   .dump()};
}

MemoryApi::Answer MemoryApi::write(const HttpRequest& request, const Target& target) {
  Written written{target.resource, target.key.first, target.key.second,
                  target.query.contains("dryRun")};
  auto& objects = objects_[target.resource];
  auto found = objects.find(target.key);
  const json body = json::parse(request.body, nullptr, false);
  if (target.subresource == "eviction" || request.method == "DELETE") {
    if (found == objects.end()) return {404, status(404, "NotFound")};
    written.resource += target.subresource.empty() ? "" : "/eviction";
    if (hooks_.on_written) hooks_.on_written(written);
    return {201, R"({"kind":"Status","apiVersion":"v1","status":"Success"})"};
  }
  json object;
  if (request.method == "POST" || request.method == "PUT") {
    object = body;
    if (!object["metadata"].contains("uid"))
      object["metadata"]["uid"] = fmt::format("uid-{}", version_);
  } else {
    const std::string type = header(request, "content-type");
    object = found == objects.end() ? json::object() : found->second;
    if (type == "application/json-patch+json") {
      std::optional<json> patched = patch(object, body);
      if (!patched) return {422, status(422, "Invalid")};
      object = std::move(*patched);
    } else {
      object.merge_patch(body);
    }
  }
  if (!written.dry_run) put(target.resource, object);
  written.name = object["metadata"].value("name", target.key.second);
  const auto now = objects.find({target.key.first, written.name});
  written.object = now == objects.end() ? nullptr : &now->second;
  if (hooks_.on_written) hooks_.on_written(written);
  return {request.method == "POST" ? 201 : 200, object.dump()};
}

void MemoryApi::put(const std::string& resource, json object) {
  const Inside inside(*this);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const Key key{namespace_in(object), object["metadata"]["name"]};
  const bool is_new = !objects_[resource].contains(key);
  json& stored = objects_[resource][key] = std::move(object);
  if (resource == "pods" && stored.contains("spec"))
    pods_on_[stored["spec"].value("nodeName", std::string())][key] = &stored;
  announce(is_new ? "ADDED" : "MODIFIED", resource, stored);
}

void MemoryApi::remove(const std::string& resource, const std::string& namespace_,
                       const std::string& name) {
  const Inside inside(*this);
  const auto found = objects_[resource].find({namespace_, name});
  if (found == objects_[resource].end()) return;
  json object = std::move(found->second);
  if (resource == "pods")
    pods_on_[object["spec"].value("nodeName", std::string())].erase({namespace_, name});
  objects_[resource].erase(found);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  announce("DELETED", resource, std::move(object));
}

const json& MemoryApi::get(const std::string& resource, const std::string& name) const {
  return objects_.at(resource).at({"", name});
}

void MemoryApi::open_watch(const Target& target, std::shared_ptr<ResponseSink> sink,
                           std::stop_token stop) {
  auto watch = std::make_shared<Watch>();
  watch->resource = target.resource;
  watch->scope = {target.key.first, target.selected("metadata.name").value_or("")};
  watch->sink = sink;
  watch->stop = stop;
  watches_.push_back(watch);
  std::string opening;
  for (const auto& [key, object] : objects_[target.resource]) {
    if (!watch->scope.first.empty() && key.first != watch->scope.first) continue;
    if (!watch->scope.second.empty() && key.second != watch->scope.second) continue;
    opening += fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", object.dump());
  }
  opening += fmt::format(
      R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
      "\n",
      version_);
  sink->on_head(200, {{"content-type", "application/json"}});
  loop_.post([sink, opening = std::move(opening)] { sink->on_bytes(opening); });
}

void MemoryApi::announce(const char* type, const std::string& resource, json object) {
  const Key key{namespace_in(object), object["metadata"]["name"]};
  auto line = std::make_shared<std::string>(
      fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object.dump()));
  auto news = std::make_shared<json>(std::move(object));
  for (const auto& watch : watches_) {
    if (watch->resource != resource || watch->stop.stop_requested()) continue;
    if (!watch->scope.first.empty() && key.first != watch->scope.first) continue;
    if (!watch->scope.second.empty() && key.second != watch->scope.second) continue;
    loop_.post([this, watch, resource, line, news]() mutable {
      {
        const Inside inside(*this);
        if (hooks_.on_delivery) hooks_.on_delivery(resource, *std::exchange(news, nullptr));
      }
      watch->sink->on_bytes(*line);
    });
  }
}

}  // namespace berth
