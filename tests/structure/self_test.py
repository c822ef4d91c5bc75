#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the other checks can fail: a doctored tree, doctored pages and a doctored archive, one fault of each kind."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def run(script, *args):
    done = subprocess.run([sys.executable, HERE / script, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout


def tree_faults(tmp):
    root = tmp / "tree"
    for folder in ("apis/base", "apis/kinds", "controller/core", "controller/client", "controller/queue/facts", "controller/queue/record"):
        (root / folder).mkdir(parents=True)
    (root / "controller/client/http.h").write_text(SPDX + "#pragma once\n")
    (root / "controller/core/a.h").write_text(SPDX + "#pragma once\n")
    (root / "controller/core/a.cc").write_text(
        SPDX + '#include <string>\n\n#include "controller/client/http.h"\n#include "controller/core/a.h"\nint  x;\n'
        'auto cause = Cause{"Homemade", "…"};\n')
    (root / "apis/b.h").write_text('#pragma once\n#include <curl/curl.h>\n#include <nlohmann/json.hpp>\n')
    (root / "apis/kinds/pod.h").write_text(SPDX + "#pragma once\n")
    (root / "controller/queue/record/entry.h").write_text(SPDX + '#pragma once\n\n#include "apis/kinds/pod.h"\n')
    (root / "controller/queue/facts/fact.cc").write_text(SPDX + '#include "controller/queue/record/entry.h"\n')
    (root / "docs").mkdir()
    (root / "apis/base/reasons.h").write_text(SPDX + 'constexpr char kHeld[] = "Held";\n')
    (root / "docs/reasons.md").write_text("| `Gone` | nothing reports it |\n")
    return root


def page_faults(tmp):
    root = tmp / "pages"
    (root / "docs").mkdir(parents=True)
    (root / "README.md").write_text("# A page\n\n## What it's for\n\n[gone](docs/gone.md) [here](docs/b.md#no-such-part) [fine](#whats-for)\n"
                                    "[good](docs/b.md#two-words-1) [good](#what-its-for) `[code](is-no-link.md)`\n" + "word " * 30 + "\n")
    (root / "docs/README.md").write_text("# Index\n\n[b](b.md)\n")
    (root / "docs/b.md").write_text("## Two *words*\n\n## Two words\n\n```\n# no heading\n[no](link.md)\n```\n")
    (root / "docs/c.md").write_text("nobody lists it\n")
    return root


def claim_faults(tmp):
    root = tmp / "claims"
    for folder in ("docs", "examples", "crds", "controller/health"):
        (root / folder).mkdir(parents=True)
    (root / "controller/health/a.cc").write_text("int f(const Spec& s) { return s.health.max_heat + s.idle; }\n")
    (root / "README.md").write_text("- Idleness, health and cost are not acted on yet.\n- What was not seen is not acted on.\n")
    (root / "docs/a.md").write_text("berth watches. Field `spec.health.maxHeat` is stored, and not used. Field `later` is only stored.\n")
    (root / "examples/a.yaml").write_text("spec:\n  # Checked and kept, and not acted on in this version.\n  health: {maxHeat: 1}\n  later: 1 # only kept\n")
    (root / "crds/a.yaml").write_text("""\
spec: {versions: [{schema: {openAPIV3Schema: {properties: {spec: {properties: {
  idle: {description: "Stored, and not acted on in this version."},
  later: {description: "Only stored."},
  health: {description: "Watches.", properties: {maxHeat: {description: "A limit."}}}}}}}}}]}
""")
    return root


def main(compiler):
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        code, out = run("check_tree.py", tree_faults(tmp))
        expected = ["may not include controller/client/http.h", "first include is not its own header", "SPDX line",
                    "a pure folder includes <curl/", "json_fwd.hpp> only", "no file includes this header", "clang-format would change",
                    "does not explain Held", "explains Gone", "a reason of its own (Cause{\"Homemade\")",
                    "controller/queue/facts may not include controller/queue/record/entry.h",
                    "plain values reach apis/kinds/pod.h (apis/kinds/pod.h < controller/queue/record/entry.h"]
        missed = [e for e in expected if e not in out]
        links_code, links_out = run("check_links.py", page_faults(tmp))
        faults = ["README.md:5: links to docs/gone.md", "README.md:5: links to docs/b.md#no-such-part", "README.md:5: links to #whats-for",
                  "README.md:7: has 150 characters", "docs/README.md: does not list c.md"]
        missed += [e for e in faults if e not in links_out]
        if len(links_out.splitlines()) != len(faults):
            missed.append("only what is wrong: " + links_out)

        claims_code, claims_out = run("check_claims.py", claim_faults(tmp))
        denials = ["README.md:1: says of health", "docs/a.md:1: says of maxHeat", "examples/a.yaml:2: says of health",
                   "examples/a.yaml:2: says of maxHeat", "crds/a.yaml: spec.idle: says"]
        missed += [e for e in denials if e not in claims_out]
        if len(claims_out.splitlines()) != len(denials):
            missed.append("only what is wrong: " + claims_out)

        source, obj, archive = tmp / "w.cc", tmp / "w.o", tmp / "w.a"
        source.write_text("#include <chrono>\n#include <cstdlib>\n#include <random>\n"
                          "long f() { std::random_device d; return std::chrono::system_clock::now().time_since_epoch().count()"
                          " + (getenv(\"HOME\") != nullptr) + d(); }\n"
                          "namespace berth { long remember() { static long last = 0; thread_local long calls = 0; return last++ + calls++; } }\n")
        subprocess.run([compiler, "-std=c++20", "-c", source, "-o", obj], check=True)
        subprocess.run(["ar", "rc", archive, obj], check=True)
        archive_code, archive_out = run("check_symbols.py", archive)
        missed += [e for e in ("getenv", "system_clock::now", "random_device", "keeps remember()::last", "keeps remember()::calls") if e not in archive_out]
    for e in missed:
        print(f"not reported: {e}")
    ok = not missed and code == 1 and links_code == 1 and claims_code == 1 and archive_code == 1
    print("the checks report every planted fault" if ok else f"exit codes {code}, {links_code}, {claims_code}, {archive_code}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
