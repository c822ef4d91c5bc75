// SPDX-License-Identifier: Apache-2.0
// Incidents: what happens to berth's own processes, and on their way to the API server.
#include <fmt/format.h>

#include "apis/time.h"
#include "controller/runtime/leader_election.h"
#include "controller/scenario/incident_args.h"
#include "controller/sim/object_fields.h"

namespace berth {

using Told = Incidents::Told;

Told Incidents::on_berth(const Incident& incident, BerthProcess& berth) {
  const std::string& verb = incident.verb;
  Told line{.subject = berth.name()};
  if (verb == "start") {
    berth.start();
    line.text = "is started";
  } else if (!berth.running()) {
    line.text = fmt::format("does not run: no {}", verb);
    line.done = false;
  } else if (verb == "crash") {
    berth.kill();
    line.text = "crashes: killed between two instructions, nothing saved";
  } else if (verb == "freeze") {
    berth.freeze();
    line.text = "stands still: time goes by without it";
  } else if (verb == "thaw") {
    berth.thaw();
    line.text = "goes on where it stood";
  } else if (verb == "terminate") {
    berth.terminate();
    line.text = "is told to end";
  } else {
    line.text = disturb(incident, berth);
  }
  return line;
}

// What goes wrong between a replica and the API server.
std::string Incidents::disturb(const Incident& incident, BerthProcess& berth) {
  const std::string& verb = incident.verb;
  if (verb == "break-watches") {
    berth.wire().end_watches();
    return "loses its watches";
  }
  if (verb == "lag") {
    berth.wire().lag(span(incident, "by"));
    return fmt::format("hears of changes {} late from now on",
                       format_duration_short(span(incident, "by")));
  }
  const std::string how_long = format_duration_short(span(incident, "for"));
  sim::ExchangeFault fault;
  if (verb == "stall") {
    fault.delay = span(incident, "by");
    meet_for(berth, span(incident, "for"), fault);
    return fmt::format("has a slow line for {}: what it sends arrives {} late", how_long,
                       format_duration_short(span(incident, "by")));
  }
  fault.fate = sim::ExchangeFate::kRefused;
  fault.code = number(incident, "code", 503);
  meet_for(berth, span(incident, "for"), fault);
  berth.wire().end_watches();
  return fmt::format("is refused everything with {} for {}", fault.code, how_long);
}

// What hook there was is asked first: what it does to a request comes before this.
void Incidents::meet_for(BerthProcess& berth, std::chrono::milliseconds span,
                         sim::ExchangeFault fault) {
  const MonotonicTime until = world_.simulation.now() + span;
  berth.faults.on_request = [before = berth.faults.on_request, until, fault,
                             &simulation = world_.simulation](const HttpRequest& request) {
    const sim::ExchangeFault first = before ? before(request) : sim::ExchangeFault{};
    const bool untouched =
        first.fate == sim::ExchangeFate::kAnswered && first.delay == std::chrono::nanoseconds(0);
    return untouched && simulation.now() < until ? fault : first;
  };
}

std::vector<BerthProcess*> Incidents::berths_of(const Incident& incident) const {
  const std::string which = rest_of(incident.target);
  std::vector<BerthProcess*> found;
  if (which == "leader") {
    if (BerthProcess* leads = leader()) found.push_back(leads);
    return found;
  }
  const auto& replicas = incident.target.starts_with("webhook/") ? world_.webhooks : world_.berths;
  for (std::size_t i = 0; i < replicas.size(); ++i)
    if (which == std::to_string(i) ||
        (which == "all" && (incident.verb != "thaw" || replicas[i]->frozen())))
      found.push_back(replicas[i].get());
  return found;
}

// Who holds the lease; failing that, any that runs.
BerthProcess* Incidents::leader() const {
  const sim::ObjectPtr lease =
      person_.get("leases", world_.settings.berth_namespace, LeaseOptions{}.name);
  const std::string holder = lease ? sim::text_at(*lease, {"spec", "holderIdentity"}) : "";
  for (const auto& berth : world_.berths)
    if (berth->running() && holder.starts_with(berth->name() + "_")) return berth.get();
  for (const auto& berth : world_.berths)
    if (berth->running()) return berth.get();
  return nullptr;
}

}  // namespace berth
