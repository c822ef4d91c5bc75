// SPDX-License-Identifier: Apache-2.0
// Reads mig-parted configs, from a file or from a ConfigMap with such a file, as MIGLayouts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/import/report.h"
#include "controller/mig/agent_config.h"

namespace berth {

struct MigConfig {
  Source source;  // the document, labelled with the config's name
  std::string name;
  std::vector<MigConfigEntry> entries;
};

// Whether the source is a mig-parted file, or a ConfigMap with one.
bool holds_mig_configs(const Source& source);
// Its configs by name. The report gets those that mig-parted itself would refuse.
std::vector<MigConfig> read_mig_configs(const Source& source, ImportReport& report);

struct LayoutDraft {
  std::string name;
  std::string json;
  const MigConfig* config = nullptr;
};

// One layout for each config, or one for each group of products that the config treats equally.
// Each layout selects nodes by label LABEL_DOMAIN/mig-layout with the config's name. It selects no
// node until a user sets that label.
std::vector<LayoutDraft> draft_layouts(const std::vector<MigConfig>& configs,
                                       const std::string& label_domain, ImportReport& report);

}  // namespace berth
