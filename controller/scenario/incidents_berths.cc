// SPDX-License-Identifier: Apache-2.0
// Incidents: verbs about berth's own processes, and their network to the API server.
#include <fmt/format.h>

#include "apis/base/time.h"
#include "controller/runtime/leader_election.h"
#include "controller/scenario/incident_args.h"
#include "controller/sim/world/object_fields.h"

namespace berth {

using Told = Incidents::Told;

namespace {

// Matches requests that release the Job or pod NAMESPACE/NAME; empty: any.
std::function<bool(const HttpRequest&)> releases_of(const std::string& workload) {
  const std::string name = "/" + workload.substr(workload.find('/') + 1);
  const std::string in = "/namespaces/" + workload.substr(0, workload.find('/')) + "/";
  return [any = workload.empty(), name, in](const HttpRequest& request) {
    const std::string_view path =
        std::string_view(request.target).substr(0, request.target.find('?'));
    return request.method == "PATCH" &&
           (any || (path.ends_with(name) && path.find(in) != path.npos)) &&
           (request.body.find(R"("suspend":false)") != std::string::npos ||
            request.body.find(R"("schedulingGates")") != std::string::npos);
  };
}

// Matches requests as an admission policy would, by what they change.
std::function<bool(const HttpRequest&)> writes_of(const std::string& write,
                                                  const std::string& node) {
  if (write == "release") return releases_of(node);
  if (write == "agents-file")
    return [](const HttpRequest& request) {
      return request.method != "GET" && request.target.find("/configmaps") != std::string::npos &&
             (request.target + request.body).find("berth-mig-parted-config") != std::string::npos;
    };
  std::string sign;  // a text in the body
  if (write == "cordon") sign = R"("op":"add","path":"/spec/unschedulable")";
  if (write == "uncordon") sign = R"("op":"remove","path":"/spec/unschedulable")";
  if (write == "mig.config")
    sign = R"("op":"add","path":"/metadata/labels/nvidia.com~1mig.config")";
  return [path = "/api/v1/nodes/" + node, sign](const HttpRequest& request) {
    const bool of_node = request.target.starts_with(path) &&
                         (path.ends_with('/') || request.target.size() == path.size() ||
                          request.target[path.size()] == '?');
    return request.method == "PATCH" && of_node && request.body.find(sign) != std::string::npos;
  };
}

// Without both arguments the clock becomes right.
std::string set_clock(const Incident& incident, BerthProcess& berth) {
  const Duration ahead = span(incident, "ahead"), behind = span(incident, "behind");
  berth.set_clock(ahead - behind);
  if (ahead == behind) return "has its clock set right";
  return fmt::format("has its clock set {} {} the cluster's", format_duration_short(ahead + behind),
                     ahead > behind ? "ahead of" : "behind");
}

}  // namespace

Told Incidents::on_berth(const Incident& incident, BerthProcess& berth) {
  const std::string& verb = incident.verb;
  Told line{.subject = berth.name()};
  if (verb == "start") {
    berth.start();
    line.text = "is started";
  } else if (verb == "set-clock") {
    line.text = set_clock(incident, berth);
  } else if (!berth.running()) {
    line.text = fmt::format("does not run: no {}", verb);
    line.done = false;
  } else if (verb == "crash") {
    berth.kill();
    line.text = "crashes: killed between two instructions, nothing saved";
  } else if (verb == "freeze") {
    berth.freeze();
    line.text = "is suspended: time goes by without it";
  } else if (verb == "thaw") {
    berth.thaw();
    line.text = "continues where it stopped";
  } else if (verb == "terminate") {
    berth.terminate();
    line.text = "is told to stop";
  } else {
    line.text = disturb(incident, berth);
  }
  return line;
}

// Faults between a replica and the API server.
std::string Incidents::disturb(const Incident& incident, BerthProcess& berth) {
  const std::string& verb = incident.verb;
  if (verb == "break-watches") {
    berth.wire().end_watches();
    return "loses its watches";
  }
  if (verb == "lag") {
    berth.wire().lag(span(incident, "by"));
    return fmt::format("sees changes {} late from now on",
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
  if (verb == "refuse") {
    const std::string write = arg(incident, "write"), node = arg(incident, "of");
    fault.code = 403;
    meet_for(berth, span(incident, "for"), fault, writes_of(write, node));
    return fmt::format("is refused {}{} for {}, by an admission policy",
                       write == "node" ? "every write" : write, node.empty() ? "" : " of " + node,
                       how_long);
  }
  fault.code = number(incident, "code", 503);
  meet_for(berth, span(incident, "for"), fault);
  berth.wire().end_watches();
  return fmt::format("is refused everything with {} for {}", fault.code, how_long);
}

// Calls the earlier hook first: its fault takes precedence.
void Incidents::meet_for(BerthProcess& berth, std::chrono::milliseconds span,
                         sim::ExchangeFault fault, std::function<bool(const HttpRequest&)> meets) {
  const MonotonicTime until = world_.simulation.now() + span;
  berth.faults.on_request = [before = berth.faults.on_request, until, fault, meets,
                             &simulation = world_.simulation](const HttpRequest& request) {
    const sim::ExchangeFault first = before ? before(request) : sim::ExchangeFault{};
    const bool untouched =
        first.fate == sim::ExchangeFate::kAnswered && first.delay == std::chrono::nanoseconds(0);
    const bool met = simulation.now() < until && (!meets || meets(request));
    return untouched && met ? fault : first;
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

// The holder of the lease, else any running process.
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
