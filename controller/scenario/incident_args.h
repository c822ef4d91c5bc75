// SPDX-License-Identifier: Apache-2.0
// IncidentArgs: reads the arguments of a timeline's verbs, and builds the report of their results.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/scenario/incidents.h"

namespace berth {

std::string arg(const Incident& incident, const std::string& name, std::string otherwise = "");
int number(const Incident& incident, const std::string& name, int otherwise);
std::chrono::milliseconds span(const Incident& incident, const std::string& name);
// The parser gives patches and sets as JSON; other callers may not.
nlohmann::json json_of(const std::string& text);
// The text after the first slash: "node/n1" → "n1".
std::string rest_of(const std::string& target);

// What a user did, or tried to do and was refused.
Incidents::Told told(std::string text, const sim::WriteReply& reply);
Incidents::Told missing(const std::string& what);

}  // namespace berth
