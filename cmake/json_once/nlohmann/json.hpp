// SPDX-License-Identifier: Apache-2.0
// Comes before nlohmann's own header where nothing is optimised (BERTH_JSON_ONCE): the class is then instantiated once, in json.cc, and not in
// each of the two hundred files that use it, which halves what such a file costs.
#pragma once
#pragma GCC system_header
#include_next <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
