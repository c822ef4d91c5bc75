// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/import.h"

#include "controller/cmd/input/manifest_texts.h"
#include "controller/cmd/line/console.h"
#include "controller/import/print.h"

namespace berth {

FlagTable import_flags(ImportFlags& flags) {
  return {
      manifest_flag(flags.files, "what to import"),
      choice_flag("-o,--output", flags.output, {"yaml", "json"}, "format"),
      switch_flag("--policy", flags.policy,
                  "print the GPUClusterPolicy that the queues need as an object, not as a comment"),
      text_flag("--label-domain", flags.label_domain,
                "domain of the labels that you put on nodes: DOMAIN/mig-layout for a layout, "
                "DOMAIN/pool where a flavor's own labels would change"),
  };
}

int run_import(const ImportFlags& flags) {
  constexpr char kProgram[] = "berth import";
  if (flags.files.empty())
    return complain(kProgram, invalid_spec("-f", "name at least one file to import"));
  if (std::string fault = domain_fault(flags.label_domain); !fault.empty())
    return complain(kProgram, invalid_spec("--label-domain", std::move(fault)));
  Result<std::vector<ManifestText>> texts = read_manifest_texts(flags.files);
  if (!texts) return complain(kProgram, texts.error());

  Sources sources;
  bool broken = false;
  for (ManifestText& text : *texts) {
    for (const Finding& finding : text.manifest.findings) complain(format(finding));
    broken = broken || !text.manifest.findings.empty();
    for (ManifestDocument& document : text.manifest.documents)
      sources.push_back({text.file, std::move(document)});
  }
  if (broken) return 1;
  const Imported imported = import_objects(std::move(sources), flags.label_domain);
  for (const std::string& line : print_report(imported)) complain(line);
  if (!imported.report.wrong.empty()) return 1;
  const PolicyAs policy = flags.policy ? PolicyAs::kObject : PolicyAs::kComment;
  put(flags.output == "json" ? print_list(imported, policy) : print_manifests(imported, policy));
  return 0;
}

}  // namespace berth
