// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/advise.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "controller/advise/model_memory.h"
#include "controller/advise/right_size.h"
#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/commands/advised_manifests.h"
#include "controller/cmd/line/console.h"
#include "controller/explain/top.h"
#include "controller/fleet/pools.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

// Limits that keep sums from overflowing.
constexpr int kMaxTokens = 10'000'000;
constexpr int kMaxSequences = 100'000;

Result<advise::Model> model_of(const AdviseFlags& flags) {
  const Result<std::int64_t> parameters = advise::parse_parameters(flags.model);
  if (!parameters) return parameters.error();
  if (flags.tokens < 1 || flags.tokens > kMaxTokens)
    return invalid_spec("--tokens", fmt::format("must be 1 to {}", kMaxTokens));
  if (flags.sequences < 1 || flags.sequences > kMaxSequences)
    return invalid_spec("--sequences", fmt::format("must be 1 to {}", kMaxSequences));
  return advise::Model{.parameters = *parameters,
                       .bits = advise::bits_of(flags.precision),
                       .tokens = flags.tokens,
                       .sequences = flags.sequences};
}

Result<std::vector<const Product*>> products_of(const std::string& gpu) {
  std::vector<const Product*> products;
  std::string known;
  for (const Product& product : all_products()) {
    products.push_back(&product);
    known += (known.empty() ? "" : ", ") + product.model;
  }
  if (gpu.empty()) return products;
  const Product* product = find_product_by_model(gpu);
  if (product == nullptr)
    return invalid_spec("--gpu", fmt::format("is {}; berth knows {}", gpu, known));
  return std::vector{product};
}

TopTable shares_for(const advise::Model& model, const std::vector<const Product*>& products) {
  TopTable table{
      "ModelShares", {"GPU", "RESOURCE", "COUNT", "WEIGHTS", "CACHE", "NEEDS", "USABLE"}, {}};
  const advise::ModelMemory memory = advise::memory_of(model);
  for (const Product* product : products) {
    const advise::Share share = advise::smallest_share(*product, memory.total());
    const bool none = share.count == 0;
    table.rows.push_back({product->model, share.resource, none ? "" : std::to_string(share.count),
                          advise::in_gib(memory.weights), advise::in_gib(memory.cache),
                          advise::in_gib(memory.total()),
                          none ? "" : advise::in_gib(share.usable)});
  }
  return table;
}

Result<TopTable> models(const AdviseFlags& flags) {
  for (const auto& [given, name] :
       {std::pair(flags.layouts, "--layouts"), {flags.sharing, "--sharing"}})
    if (given) return invalid_spec(name, "is about owners of pods, not about --model");
  const Result<advise::Model> model = model_of(flags);
  if (!model) return model.error();
  const Result<std::vector<const Product*>> products = products_of(flags.gpu);
  if (!products) return products.error();
  return shares_for(*model, *products);
}

std::string told(const advise::OwnerAdvice& advice) {
  switch (advice.verdict) {
    case advise::Verdict::kFewerGpus:
    case advise::Verdict::kProfile:
      return fmt::format("{} {}{}", advice.instead_each, advice.instead, provided(advice));
    case advise::Verdict::kShare:
      return fmt::format("1 {} of pool {}: its memory and faults are then not kept apart{}",
                         advice.instead, advice.pool, provided(advice));
    case advise::Verdict::kKeep:
      return "keep";
    case advise::Verdict::kMixed:
      return "keep: its pods hold shares, or different things";
    case advise::Verdict::kTooLittle:
      break;
  }
  return "not measured for a day";
}

TopTable table_of(const std::vector<advise::OwnerAdvice>& advices) {
  TopTable table{
      "OwnerAdvices",
      {"OWNER", "PODS", "EACH", "USED", "PEAK", "MEMORY", "ADVICE", "SAVES/MONTH", "CURRENCY"},
      {}};
  for (const advise::OwnerAdvice& advice : advices)
    table.rows.push_back(
        {advice.owner, std::to_string(advice.pods),
         advice.each == 0 ? std::string() : fmt::format("{} {}", advice.each, advice.holds),
         advice.used ? fmt::format("{}%", *advice.used) : std::string(),
         advice.peak ? fmt::format("{}%", *advice.peak) : std::string(),
         advice.memory_mib ? advise::in_gib(*advice.memory_mib << 20) : std::string(), told(advice),
         advice.month == 0 ? std::string() : cost::format_money(advice.month, 2), advice.currency});
  return table;
}

// The command's findings in the cluster.
struct Looked {
  std::string policy;  // the present one, as JSON
  std::vector<advise::OwnerAdvice> advices;
  advise::Proposal proposal;
};

Result<void> check_read(const Dump& dump, const Settings& settings) {
  for (const char* needed : {"nodes", "pods", "configmaps", "miglayouts"})
    if (const Unread* unread = dump.clues.find_unread(needed);
        unread != nullptr &&
        (unread->namespace_.empty() || unread->namespace_ == settings.berth_namespace))
      return Error{.message = fmt::format("this account may not list {}: bind it to ClusterRole "
                                          "berth-why and, for ConfigMap {}, to Role "
                                          "berth-snapshot",
                                          unread->resource, names::kCostsConfigMap)};
  return {};
}

// `text` is a cluster that contains a policy.
std::string standing_policy(const std::string& text) {
  const nlohmann::ordered_json dump = nlohmann::ordered_json::parse(text);
  for (const nlohmann::ordered_json& item : dump.at("items"))
    if (item.at("kind").get<std::string>() == kKind<GPUClusterPolicy>.kind &&
        item.at("metadata").at("name") == limits::kPolicyName)
      return item.dump();
  return {};
}

Result<Looked> look(const AdviseFlags& flags) {
  const DumpQuery query{.settings = flags.settings, .workloads = true, .tolerant = true};
  Result<ClusterDump> read = read_cluster(flags.snapshot, flags.connection, query);
  if (!read) return read.error();
  const Dump& dump = read->dump;
  if (const Result<void> complete = check_read(dump, flags.settings); !complete)
    return complete.error();
  const GPUClusterPolicy* policy = find_policy(dump.cluster);
  if (policy == nullptr)
    return Error{.message = "there is no GPUClusterPolicy: pools and their prices stand there"};
  const Answers answers;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = dump.taken_at,
                          .offline = true};
  Looked looked;
  looked.advices = advise::advise_owners(
      snapshot, *policy, flags.sharing ? advise::Isolation::kMayWeaken : advise::Isolation::kKept);
  std::vector<advise::ProposedPool> shared;
  if (flags.sharing) shared = advise::propose_shared_pools(snapshot, *policy, looked.advices);
  if (!flags.layouts) return looked;
  looked.policy = standing_policy(read->text);
  looked.proposal = advise::propose_layouts(snapshot, *policy, looked.advices, std::move(shared));
  return looked;
}

Result<std::string> print_table(const Result<TopTable>& table, const std::string& output) {
  if (!table) return table.error();
  if (output == "text") return print_text(*table);
  return output == "json" ? print_json(*table) : json_to_yaml(print_json(*table));
}

Result<std::string> owners(const AdviseFlags& flags) {
  const Result<Looked> looked = look(flags);
  if (!looked) return looked.error();
  if (flags.layouts) return print_manifests(looked->proposal, looked->advices, looked->policy);
  return print_table(table_of(looked->advices), flags.output);
}

}  // namespace

FlagTable advise_flags(AdviseFlags& flags) {
  FlagTable table = {
      text_flag("--model", flags.model,
                "a model's parameters, as 70B or 350M: what has room for it, instead of owners"),
      choice_flag("--precision", flags.precision,
                  {std::begin(advise::kPrecisions), std::end(advise::kPrecisions)},
                  "of the model's weights"),
      count_flag("--tokens", flags.tokens,
                 "of --model: that a sequence may have, its prompt among them"),
      count_flag("--sequences", flags.sequences, "of --model: that are answered at a time"),
      text_flag("--gpu", flags.gpu,
                "of --model: this product alone, as A100-80GB; else all that berth knows"),
      file_flag("--snapshot", flags.snapshot,
                "look into this file, as `berth snapshot` wrote it, instead of a live cluster"),
      switch_flag(
          "--sharing", flags.sharing,
          "of owners: advise parts of GPUs too that a pool shares, which weakens isolation"),
      switch_flag("--layouts", flags.layouts,
                  "print the MIGLayouts that give owners what they are advised to, and the "
                  "GPUClusterPolicy, instead of the table"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"},
                  "how the table is written"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_advise(const AdviseFlags& flags) {
  const Result<std::string> told =
      flags.model.empty() ? owners(flags) : print_table(models(flags), flags.output);
  if (!told) return complain("berth advise", told.error());
  put(*told);
  return 0;
}

}  // namespace berth
