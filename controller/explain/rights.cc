// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/rights.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace berth {
namespace {

constexpr std::string_view kWhyRole = "berth-why";
constexpr std::string_view kSnapshotRole = "berth-snapshot";

// The same list as in the chart's ClusterRole.
constexpr std::string_view kOfWhyRole[] = {"nodes",
                                           "namespaces",
                                           "miglayouts.gpu.berth.dev",
                                           "gpuclusterpolicies.gpu.berth.dev",
                                           "gpuqueues.gpu.berth.dev",
                                           "clusterpolicies.nvidia.com"};

bool matters_to_pods(const Unread& unread) {
  return unread.resource == "pods" ||
         std::ranges::find(kOfWhyRole, unread.resource) != std::end(kOfWhyRole);
}

// From the server's message, `User "x" cannot list …`. ServiceAccounts have their own flag.
std::string account_flag(const std::vector<Unread>& unread) {
  static constexpr std::string_view kUser = "User \"", kAccounts = "system:serviceaccount:";
  for (const Unread& item : unread) {
    const std::size_t begin = item.message.find(kUser);
    if (begin == std::string::npos) continue;
    const std::size_t from = begin + kUser.size();
    const std::size_t end = item.message.find('"', from);
    if (end == std::string::npos) continue;
    const std::string user = item.message.substr(from, end - from);
    if (user.starts_with(kAccounts))
      return fmt::format("--serviceaccount={}", user.substr(kAccounts.size()));
    // The user pastes it into a shell.
    const bool plain = std::ranges::all_of(user, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("@._:-/").find(c) != std::string_view::npos;
    });
    if (plain && !user.empty()) return fmt::format("--user={}", user);
  }
  return "--user=NAME";
}

std::string bind_everywhere(std::string_view role, std::string_view account) {
  return fmt::format("kubectl create clusterrolebinding {0} --clusterrole={0} {1}", role, account);
}

std::string bind_in(std::string_view namespace_, std::string_view account) {
  return fmt::format("kubectl create rolebinding {0} -n {1} --role={0} {2}", kSnapshotRole,
                     namespace_, account);
}

}  // namespace

MissingRights missing_rights(const std::vector<Unread>& unread, RightsFor whom,
                             const Settings& settings) {
  MissingRights out;
  bool everywhere = false, in_berths = false, in_agents = false, more_than_why = false;
  for (const Unread& item : unread) {
    if (item.reason != "Forbidden") continue;
    if (whom == RightsFor::kPod && !matters_to_pods(item)) continue;
    std::string told = item.resource;
    if (!item.instead.empty()) told += " outside namespace " + item.instead;
    if (!item.namespace_.empty()) told += " in namespace " + item.namespace_;
    if (std::ranges::find(out.resources, told) == out.resources.end())
      out.resources.push_back(std::move(told));
    if (item.namespace_ == settings.berth_namespace)
      in_berths = true;
    else if (item.namespace_ == settings.agents_namespace)
      in_agents = true;
    else
      everywhere = true;
    more_than_why |= std::ranges::find(kOfWhyRole, item.resource) == std::end(kOfWhyRole);
  }
  if (out.resources.empty()) return out;
  const std::string account = account_flag(unread);
  std::vector<std::string> lines;
  // A tenant does not need pods of all namespaces: nodes and berth's kinds answer most questions.
  const bool tenant = whom == RightsFor::kPod && (!more_than_why || out.resources.size() > 1);
  if (everywhere) lines.push_back(bind_everywhere(tenant ? kWhyRole : kSnapshotRole, account));
  if (in_berths) lines.push_back(bind_in(settings.berth_namespace, account));
  if (in_agents) lines.push_back(bind_in(settings.agents_namespace, account));
  out.grant = fmt::format("{}", fmt::join(lines, " && "));
  return out;
}

}  // namespace berth
