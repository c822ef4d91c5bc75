// SPDX-License-Identifier: Apache-2.0
// mig-parted's configs, from a file of its own or from a ConfigMap that holds one, as MIGLayouts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/import/report.h"
#include "controller/mig/agent_config.h"

namespace berth {

struct MigConfig {
  Source source;  // the document, called by the config's name
  std::string name;
  std::vector<MigConfigEntry> entries;
};

// Whether it is a mig-parted file, or a ConfigMap that holds one.
bool holds_mig_configs(const Source& source);
// The configs that it holds, by name; what mig-parted itself would refuse goes to the report.
std::vector<MigConfig> read_mig_configs(const Source& source, ImportReport& report);

struct LayoutDraft {
  std::string name;
  std::string json;
  const MigConfig* config = nullptr;
};

// One layout for each config, or one for each group of products that a config treats alike. Each
// selects the nodes with label LABEL_DOMAIN/mig-layout of the config's name: none, until somebody
// says so.
std::vector<LayoutDraft> draft_layouts(const std::vector<MigConfig>& configs,
                                       const std::string& label_domain, ImportReport& report);

}  // namespace berth
