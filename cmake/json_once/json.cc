// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

template class nlohmann::basic_json<>;
