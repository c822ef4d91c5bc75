// SPDX-License-Identifier: Apache-2.0
// FieldShapes: constructors for the kinds' field tables, and the patterns of Kubernetes and NVIDIA
// that several tables use.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/fields.h"

namespace berth::shape {

inline constexpr char kLabelKey[] =
    "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
inline constexpr char kLabelKeyAdvice[] = "write a label key, as node.example.com/tier";
inline constexpr std::int64_t kMaxLabelKey = 317;  // a prefix of 253 characters, slash, name of 63
inline constexpr char kLabelValue[] = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";
inline constexpr char kLabelValueAdvice[] =
    "write a label value: letters, digits, '-', '_' and '.', starting and ending with a letter or "
    "digit";
inline constexpr char kResource[] = "^nvidia\\.com/(gpu(\\.shared)?|mig-[0-9][a-z0-9.-]*)$";
inline constexpr char kResourceAdvice[] =
    "write a resource of NVIDIA's device plugin, as nvidia.com/gpu or nvidia.com/mig-1g.10gb";

Field object(std::string name, std::vector<Field> children);
Field list(std::string name, std::int64_t min, std::int64_t max, Field item);
Field set_of(Field field);
Field keyed_by(std::vector<std::string> keys, Field field);  // the item's fields must be required
Field map(std::string name, std::int64_t max, std::string key_pattern, std::string advice,
          Field value);
Field text(std::string name, std::int64_t min, std::int64_t max, std::string pattern,
           std::string advice);
Field one_of(std::string name, std::vector<std::string> values);
Field integer(std::string name, std::int64_t min, std::int64_t max, std::string advice = "");
Field boolean(std::string name);
// A count from 1, or a percentage from 1%.
Field int_or_percent(std::string name, std::string advice);
Field duration(std::string name, std::int64_t min_seconds = 1);  // to a week
Field label_selector(std::string name);
Field label_key(std::string name);

Field required(Field field);
Field with_default(Field field, std::string json);

}  // namespace berth::shape
