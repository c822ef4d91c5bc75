#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what the pure archives ask of others and what they keep, and fails on anything that is not on the lists below.

A reconciler is a function of its snapshot: no clock, no environment, no randomness, no files, no network, no threads, and nothing kept from
one call to the next from which an answer could differ. Linking would not catch a stray getenv(), nor a cache; this does."""
import re
import subprocess
import sys

# By name without arguments; a template's too.
ALLOWED = re.compile(
    r"""^(
      # memory, text and numbers of the C library
      mem(cmp|cpy|move|set|chr) | str(len|cmp|chr|tod|toll|toull) | snprintf | ldexp | log | sqrt | toupper | isalpha | localeconv | __errno_location |
      # what a compiler writes in
      _Unwind_Resume | __gxx_personality_v0 | __cxa_\w+ | __dso_handle | __dynamic_cast | _GLOBAL_OFFSET_TABLE_ | __libc_single_threaded |
      __u?(div|mod)ti3 | __assert_fail | __stack_chk_fail | __\w+_chk | _?_?(asan|ubsan)_\w+ | __sanitizer_\w+ |
      operator\ (new|delete)(\[\])? | (vtable|VTT|typeinfo(\ name)?)\ for\ .* | guard\ variable\ .* |
      # zlib's, in memory
      (in|de)flate(Init2_|Bound|End)? |
      # how a bug of our own ends the process
      fputs | stderr | abort |
      # of the standard library: containers, errors, text. Its clocks, threads, files and random devices are not here
      std::__throw_\w+ | std::_Rb_tree_\w+ | std::_Hash_bytes | std::__detail::.* | std::nothrow | std::(from|to)_chars | std::to_string |
      (std::)?(\w+_error|exception|bad_\w+|out_of_range)::.* | std::(runtime_error|exception|regex_error|logic_error|invalid_argument)::.* |
      std::(locale|ctype|__cxx11::collate|collate)\b.* | std::terminate | std::uncaught_exceptions? |
      std::(__cxx11::)?basic_(i|o)?string(stream|buf|)?\b.* | std::(__cxx11::)?basic_(string_view|ostream|istream|ios)\b.* | std::(ostream|istream|ios_base)\b.* |
      std::allocator\b.* | std::operator.* | std::__ostream_insert\b.* | std::piecewise_construct | std::type_info::.* |
      # ours, and the libraries that read and write text
      (\w[\w\ ]*[\ &*]+)?(berth|fmt|nlohmann|simdjson|YAML|protozero|date)::.*
    )$""",
    re.VERBOSE,
)

# What is kept: constants (kName), and what is named here. `berth::` and `(anonymous namespace)::` are left out.
KEPT = {
    # buffers that are emptied before each use, kept for their memory
    r"event_parser\(\)::parser", r"usual_parser\(\)::parser", r"parse_json.*::parser", r"as_text\(.*\)::repaired", r"read_map<.*>\(.*\)::entries",
    r"read\w*(<.*>)?\(.*\)::(entries|requests|taints|tolerations|node_selector|overhead|allocatable|capacity|annotations|finalizers|labels|owners|items)",
    # tables made when first asked for, from nothing that could change
    r"(metadata|object)_fields\(\)::fields", r"(layout|policy|queue)_spec_field\(\)::field", r"matches_pattern\(.*\)::compiled", r"products\(\)::table",
    r"utc_only\(\)::zones",
    # equal texts and shapes once in memory: which of them came first is seen by nobody
    r"(Text|Shape)Pool::instance\(\)::pool",
    # the switch of builds that are made to be wrong (controller/core/seeded_bugs.h)
    r"seeded_bug",
}
IS_KEPT = re.compile(rf"^(?:{'|'.join(sorted(KEPT))}|(?:.*::)?k[A-Z]\w*|kKind<.*>)(\[abi:cxx11\])?$")


def lines(archive, *options):
    out = subprocess.run(["nm", *options, archive], capture_output=True, text=True, check=True).stdout
    member = "?"
    for line in out.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif match := re.match(r"\s*[0-9a-f]*\s+(\w) (.*)", line):
            yield member, match.group(1), match.group(2)


def without_arguments(name):
    name = name.split("@")[0]  # glibc decorates with @VERSION
    return re.split(r"[(<]", name)[0] if not re.match(r"(vtable|VTT|typeinfo|guard|operator)", name) else re.sub(r"\(.*", "", name)


def forbidden_calls(archive):
    for member, kind, name in lines(archive, "-uC"):
        if kind in "Uw" and not ALLOWED.match(without_arguments(name)):
            yield f"{archive}({member}): the pure core calls {without_arguments(name)}"


def forbidden_state(archive):
    for member, kind, name in lines(archive, "-C"):
        if kind not in "bBdDuVsScC" or not name.startswith("berth::"):
            continue
        # A constant is told by its own name, a function's static by what stands behind its arguments.
        name = name.replace("berth::", "").replace("(anonymous namespace)::", "").replace("test::", "")
        if not IS_KEPT.match(name) and not re.search(r"\{lambda|^(vtable|typeinfo|guard)", name):
            yield f"{archive}({member}): the pure core keeps {name}"


def main(archives):
    bad = [line for archive in archives for check in (forbidden_calls, forbidden_state) for line in check(archive)]
    print("\n".join(bad))
    print(f"{len(archives)} archives read, {len(bad)} forbidden symbols")
    return 1 if bad or not archives else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
