// SPDX-License-Identifier: Apache-2.0
// Random histories of a fleet: the ledger's sums are compared with the nodes' lifetimes times the
// price, computed separately.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "controller/cost/cost_ledger.h"
#include "controller/cost/fleet_cost.h"
#include "controller/fleet/node_facts.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using cost::Micros;

constexpr int kHistories = 10'000;

struct Bill {
  Micros per_gpu = 0;
  std::int64_t gpus = 0;
  Time since{};
};

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    world_.cluster.erase<Node>("", "n1");
    GPUClusterPolicy policy = world_.policy();
    policy.spec.pools = {pool("a", "3.06", "USD"), pool("b", "0.333333", "USD"),
                         pool("c", "1.1", "EUR"), pool("d", "", "")};
    world_.cluster.upsert(std::move(policy), world_.now);
    world_.now += std::chrono::hours(below(48));
  }
  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      act();
      look();
      world_.now += std::chrono::seconds(1 + below(4) * below(20'000));
      cost::spend_until(world_.now, hourly_, ledger_);
      hourly_ = hourly();
    }
    while (!bills_.empty()) go(bills_.begin()->first);
  }
  void check() const {
    std::map<std::string, Micros> months;
    for (const auto& [month, currencies] : ledger_.months)
      for (const auto& [currency, sums] : currencies) {
        cost::Spending pools, held;
        for (const auto& [name, spending] : sums.pools) pools.add(spending);
        months[currency] += pools.total();
        for (const auto table :
             {&cost::Spendings::namespaces, &cost::Spendings::queues, &cost::Spendings::owners}) {
          cost::Spending by;
          for (const auto& [name, spending] : sums.*table) by.add(spending);
          ASSERT_EQ(by.used, pools.used);
          ASSERT_EQ(by.idle, pools.idle);
          ASSERT_EQ(by.unmeasured, pools.unmeasured);
          ASSERT_EQ(by.total(), by.used + by.idle + by.unmeasured);
        }
      }
    ASSERT_EQ(months, billed_);
    cost::CostLedger again = ledger_;
    const cost::CostTexts texts = cost::encode_costs(again);
    ASSERT_EQ(cost::read_costs(texts), again);
  }

 private:
  static PoolSpec pool(const std::string& name, const std::string& price,
                       const std::string& currency) {
    PoolSpec spec;
    spec.name = name;
    spec.node_selector.match_labels.set("tier", name);
    if (!price.empty()) spec.price = PriceSpec{price, currency};
    return spec;
  }
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  cost::SpendingsByCurrency hourly() const {
    return cost::hourly_cost(world_.snapshot(), world_.policy());
  }

  void act() {
    switch (below(5)) {
      case 0:
        if (!bills_.empty() && below(3) == 0) return go(bills_.begin()->first);
        [[fallthrough]];
      case 1:
        return come();
      case 2:
      case 3:
        return run();
      default:
        if (!pods_.empty()) {
          world_.cluster.erase<Pod>("team", pods_.back());
          pods_.pop_back();
        }
    }
  }
  void come() {
    const std::string name = "n" + std::to_string(++count_);
    const std::string tier(1, static_cast<char>('a' + below(4)));
    NodeBuilder made = node(name);
    made.a100_80(1 + below(8)).label("tier", tier);
    if (below(3) > 0)
      made.allocatable("nvidia.com/gpu", below(9));
    else
      made.allocatable("nvidia.com/mig-1g.10gb", below(20))
          .allocatable("nvidia.com/mig-3g.40gb", below(3));
    if (below(5) == 0) made.cordoned();
    const Node built = made;
    const std::map<std::string, std::pair<Micros, const char*>> prices = {
        {"a", {3'060'000, "USD"}}, {"b", {333'333, "USD"}}, {"c", {1'100'000, "EUR"}}};
    const auto price = prices.find(tier);
    bills_[name] = {price == prices.end() ? 0 : price->second.first, inventory_of(built)->count,
                    world_.now};
    currencies_[name] = price == prices.end() ? "" : price->second.second;
    world_.cluster.upsert<Node>(built, world_.now);
    // It exists from now on.
    cost::spend_until(world_.now, hourly_, ledger_);
    hourly_ = hourly();
  }
  void go(std::string name) {
    cost::spend_until(world_.now, hourly_, ledger_);
    const Bill bill = bills_.extract(name).mapped();
    const Micros seconds =
        std::chrono::floor<std::chrono::seconds>(world_.now - bill.since).count();
    if (bill.per_gpu > 0 && seconds > 0)
      billed_[currencies_[name]] += bill.per_gpu * bill.gpus * seconds;
    world_.cluster.erase<Node>("", name);
    hourly_ = hourly();
  }
  void run() {
    if (bills_.empty()) return;
    auto on = bills_.begin();
    std::advance(on, below(static_cast<int>(bills_.size())));
    const std::string name = "p" + std::to_string(++count_);
    PodBuilder made = pod(name);
    made.in("team").on(on->first);
    if (below(3) > 0)
      made.gpu(1 + below(10));
    else
      made.requests("nvidia.com/mig-1g.10gb", 1 + below(9));
    if (below(2) == 0) made.label("gpu.berth.dev/queue", "q" + std::to_string(below(3)));
    world_.run(made);
    pods_.push_back(name);
    held_.emplace_back(on->first, name);
  }
  void look() {
    std::string text;
    for (const auto& [on, name] : held_)
      if (below(3) > 0)
        text += fmt::format(
            "DCGM_FI_DEV_GPU_UTIL{{gpu=\"{}\",UUID=\"GPU-{}-{}\",Hostname=\"{}\",namespace="
            "\"team\","
            "pod=\"{}\"}} {}\n",
            below(4), on, below(4), on, name, below(101));
    if (!text.empty()) world_.look(text);
  }

  std::mt19937 random_;
  Measured world_;
  cost::CostLedger ledger_;
  cost::SpendingsByCurrency hourly_;
  std::map<std::string, Bill> bills_;
  std::map<std::string, std::string> currencies_;
  std::map<std::string, Micros> billed_;
  std::vector<std::string> pods_;
  std::vector<std::pair<std::string, std::string>> held_;
  int count_ = 0;
};

TEST(CostHistories, TheLedgerIsTheBill) {
  for (unsigned seed = 1; seed <= kHistories; ++seed) {
    SCOPED_TRACE(seed);
    History history(seed);
    history.play(12);
    history.check();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace berth::test
