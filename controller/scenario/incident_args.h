// SPDX-License-Identifier: Apache-2.0
// What the verbs of a timeline read out of an incident, and how they tell what came of it.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/scenario/incidents.h"

namespace berth {

std::string arg(const Incident& incident, const std::string& name, std::string otherwise = "");
int number(const Incident& incident, const std::string& name, int otherwise);
std::chrono::milliseconds span(const Incident& incident, const std::string& name);
// Patches and sets come from the parser as JSON; those of other callers may not be.
nlohmann::json json_of(const std::string& text);
// What is behind the first slash: "node/n1" → "n1".
std::string rest_of(const std::string& target);

// What a person did, or tried to and was refused.
Incidents::Told told(std::string text, const sim::WriteReply& reply);
Incidents::Told missing(const std::string& what);

}  // namespace berth
