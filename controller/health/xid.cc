// SPDX-License-Identifier: Apache-2.0
#include "controller/health/xid.h"

#include <algorithm>
#include <iterator>

namespace berth {
namespace {

struct Row {
  std::int64_t code;
  Xid xid;
};

using enum XidClass;

constexpr Row kXids[] = {
    {13, {kApplication, "a program's exception in the graphics engine"}},
    {31, {kApplication, "a program's page fault"}},
    {43, {kApplication, "a program's channel was reset"}},
    {45, {kApplication, "a program's channels were cleaned up"}},
    {68, {kApplication, "an exception in the video decoder"}},
    {109, {kApplication, "a program's context switch timed out"}},

    {48, {kFatal, "a double-bit error of its memory"}},
    {62, {kFatal, "its microcontroller halted"}},
    {63, {kFatal, "a row of its memory is to be replaced at the next reset"}},
    {64, {kFatal, "a row of its memory could not be replaced"}},
    {74, {kFatal, "an error of NVLink"}},
    {79, {kFatal, "it fell off the bus"}},
    {94, {kFatal, "a contained error of its memory: it needs a reset"}},
    {95, {kFatal, "an uncontained error of its memory"}},
    {110, {kFatal, "a security fault"}},
    {119, {kFatal, "its system processor does not answer"}},
    {120, {kFatal, "an error of its system processor"}},
    {140, {kFatal, "an unrecovered error of its memory"}},
    {143, {kFatal, "it could not be initialised"}},
};

}  // namespace

Xid describe_xid(std::int64_t code) {
  const auto* row = std::ranges::find(kXids, code, &Row::code);
  return row == std::end(kXids) ? Xid() : row->xid;
}

}  // namespace berth
