// SPDX-License-Identifier: Apache-2.0
#include "apis/base/int_or_percent.h"
#include "apis/base/quantity.h"
#include "apis/base/time.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

std::string check(const Quantity& quantity) {
  const std::string printed = quantity.str();
  const Result<Quantity> again = Quantity::parse(printed);
  if (!again.has_value() || *again != quantity) return "printed as another: " + printed;
  if (printed.size() > 64) return "printed at length: " + printed;
  const std::int64_t rounded = quantity.rounded_up();
  if (const std::optional<std::int64_t> whole = quantity.as_whole()) {
    if (*whole != rounded || Quantity::whole(*whole) != quantity)
      return "not that whole: " + printed;
  } else if (quantity > Quantity() ? Quantity::whole(rounded) < quantity
                                   : Quantity::whole(rounded) > quantity) {
    return "rounded towards zero: " + printed;
  }
  if (quantity + quantity - quantity != quantity) return "sums do not add up: " + printed;
  return quantity.is_zero() == (quantity == Quantity()) ? "" : "zero is not zero: " + printed;
}

}  // namespace

Verdict check_quantity(std::string_view text) {
  if (const Result<Quantity> quantity = Quantity::parse(text))
    return {.wrong = check(*quantity), .read = true};
  else if (quantity.error().message.size() > 400)
    return {.wrong = "an error at length: " + quantity.error().message};
  const Result<IntOrPercent> budget = IntOrPercent::parse(text);
  if (!budget.has_value()) return {};
  const Result<IntOrPercent> again = IntOrPercent::parse(budget->str());
  if (!again.has_value() || *again != *budget)
    return {.wrong = "printed as another: " + budget->str()};
  const std::int64_t some = budget->of(1000);
  return {
      .wrong = some < 0 || (budget->percent && (some < 1 || some > 1000)) ? "no such share" : "",
      .read = true};
}

Verdict check_time(std::string_view text) {
  Verdict verdict;
  if (const Result<Time> time = parse_time(text)) {
    verdict.read = true;
    const std::string printed = format_micro_time(*time);
    const Result<Time> again = parse_time(printed);
    if (!again.has_value() || *again != *time)
      verdict.wrong = "a time printed as another: " + printed;
  }
  if (const Result<Duration> duration = parse_duration(text)) {
    verdict.read = true;
    const std::string printed = format_duration(*duration);
    const Result<Duration> again = parse_duration(printed);
    if (*duration < Duration::zero() || format_duration_short(*duration).empty() ||
        !again.has_value() || *again != *duration)
      verdict.wrong = "a duration printed as another: " + printed;
  }
  return verdict;
}

}  // namespace berth::test
