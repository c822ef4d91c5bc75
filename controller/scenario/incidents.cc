// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/incidents.h"

#include "apis/codec/manifest.h"
#include "controller/scenario/incident_args.h"
#include "controller/scenario/incident_table.h"

namespace berth {

using Told = Incidents::Told;
using Target = IncidentVerb::Target;

Incidents::Incidents(World world) : world_(world), person_(world.simulation.server(), kPerson) {}

std::vector<Told> Incidents::play(const Incident& incident) {
  const IncidentVerb* verb = find_incident_verb(incident.verb);
  if (verb == nullptr) return {missing("verb " + incident.verb)};
  std::vector<Told> lines;
  switch (verb->target) {
    case Target::kManifest:
      for (const ManifestDocument& document : parse_manifest(incident.manifest, "").documents)
        lines.push_back(apply_document(document.json));
      break;
    case Target::kObject:
      lines.push_back(on_object(incident));
      break;
    case Target::kPod:
      lines.push_back(on_pod(incident));
      break;
    case Target::kNewNode:
      add_node(incident, rest_of(incident.target));
      lines.push_back({.subject = kPerson, .text = "adds node " + rest_of(incident.target)});
      break;
    case Target::kNode:
    case Target::kNodeOrAll:
      for (const std::string& name : nodes_of(incident)) lines.push_back(on_node(incident, name));
      break;
    case Target::kBerthOrAll:
      for (BerthProcess* berth : berths_of(incident)) lines.push_back(on_berth(incident, *berth));
      if (lines.empty()) lines.push_back(missing("replica of berth that runs"));
      break;
    case Target::kNone:
      lines.push_back(on_etcd(incident.verb));
      break;
  }
  return lines;
}

Told Incidents::on_etcd(const std::string& verb) {
  sim::Store& store = world_.simulation.store();
  Told line{.subject = "etcd"};
  if (verb == "compact") {
    store.compact(store.revision());
    line.text = "is compacted: older watches get 410";
  } else if (verb == "backup") {
    backup_ = store.save();
    line.text = "is saved";
  } else if (backup_) {
    store.restore(*backup_);
    line.text = "is restored: everything is as it was when it was saved";
  } else {
    return missing("backup of etcd");
  }
  return line;
}

}  // namespace berth
