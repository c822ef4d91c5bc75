// SPDX-License-Identifier: Apache-2.0
// nlohmann's json for the precompiled headers. Its class is instantiated once, in json.cc beside this, and not in each of the
// hundred files that use it: that halves what such a file costs.
#pragma once
#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
