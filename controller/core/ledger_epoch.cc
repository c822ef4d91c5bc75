// SPDX-License-Identifier: Apache-2.0
#include "controller/core/ledger_epoch.h"

#include <charconv>

#include "apis/base/names.h"

namespace berth {

std::int64_t epoch_of(const ConfigMap& ledger) {
  const Text* text = ledger.meta.annotations.find(names::kEpochAnnotation);
  std::int64_t epoch = 0;
  if (text != nullptr)
    std::from_chars(text->view().data(), text->view().data() + text->view().size(), epoch);
  return epoch < 0 || epoch >= kMaxCounter ? 0 : epoch;
}

}  // namespace berth
