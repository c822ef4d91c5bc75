// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/incident_args.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "apis/base/time.h"
#include "controller/sim/world/object_fields.h"

namespace berth {

using Json = nlohmann::json;
using Told = Incidents::Told;
using namespace std::chrono_literals;

std::string arg(const Incident& incident, const std::string& name, std::string otherwise) {
  auto it = incident.args.find(name);
  return it == incident.args.end() ? std::move(otherwise) : it->second;
}

int number(const Incident& incident, const std::string& name, int otherwise) {
  const std::string text = arg(incident, name);
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::chrono::milliseconds span(const Incident& incident, const std::string& name) {
  return parse_duration(arg(incident, name, "0s")).value();
}

Json json_of(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

std::string rest_of(const std::string& target) { return target.substr(target.find('/') + 1); }

Told told(std::string text, const sim::WriteReply& reply) {
  if (reply.ok()) return {.subject = kPerson, .text = std::move(text)};
  const std::string why = reply.body ? sim::text_at(*reply.body, {"message"}) : "";
  return {.subject = kPerson,
          .text = fmt::format("{}: refused with {}{}", text, reply.code,
                              why.empty() ? "" : " (" + why + ")"),
          .done = false};
}

Told missing(const std::string& what) {
  return {.subject = kPerson, .text = fmt::format("finds no {}", what), .done = false};
}

}  // namespace berth
