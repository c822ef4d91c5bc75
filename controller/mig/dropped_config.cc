// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/dropped_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>
#include <vector>

namespace berth {

Guard nobody_names(const ObjectRef& file, std::set<std::string> dropped, NamedByNode named_by) {
  Guard look;
  look.node = file;
  look.question = fmt::format("does no node name {}?", fmt::join(dropped, " or "));
  look.refuse_any = [dropped = std::move(dropped), named_by = std::move(named_by)](
                        const std::vector<Node>& nodes) -> std::optional<std::string> {
    for (const Node& node : nodes)
      for (const std::string& name : named_by(node))
        if (dropped.contains(name))
          return fmt::format("node {} names {}, and the cache is behind", node.meta.name, name);
    return std::nullopt;
  };
  return look;
}

}  // namespace berth
