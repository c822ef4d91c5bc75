// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page.h"

#include <fmt/format.h>

#include <vector>

#include "controller/page/page_parts.h"
#include "controller/page/page_state.h"
#include "controller/page/page_why.h"

namespace berth {
namespace {

constexpr std::string_view kLinkedHead =
    R"(<link rel="icon" type="image/svg+xml" href="icon.svg"><link rel="stylesheet" href="page.css">)";
constexpr std::string_view kLinkedScript = R"(<script type="module" src="main.js"></script>)";
// The single file must not load or send anything.
constexpr std::string_view kWholeHead =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; )"
    R"(style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'">)";

// Inside a script element no text may close the element, whatever an object's name; the JSON is
// equal.
std::string as_script_data(const std::string& json) {
  std::string data;
  data.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      data += "\\u003c";
    else
      data += c;
  return data;
}

std::string filled(std::string_view head, std::string_view script) {
  std::string page = kPageHtml;
  for (const auto& [mark, text] : {std::pair("{{head}}", head), std::pair("{{script}}", script)})
    page.replace(page.find(mark), std::string_view(mark).size(), text);
  return page;
}

// The modules as one. Each name is declared only once in all modules, so that removing imports and
// exports is enough.
std::string as_one_module() {
  std::string all;
  for (const PagePart& module : kPageModules)
    for (std::string_view rest = module.text; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      constexpr std::string_view kExport = "export ";
      if (line.starts_with("import ")) continue;
      if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
      all.append(line).append("\n");
    }
  return all;
}

}  // namespace

std::span<const PageFile> page_files() {
  static const std::vector<PageFile> kFiles = [] {
    std::vector<PageFile> files{
        {"", "text/html; charset=utf-8", filled(kLinkedHead, kLinkedScript)},
        {"page.css", "text/css; charset=utf-8", kPageCss},
        {"icon.svg", "image/svg+xml", kPageIcon},
    };
    for (const PagePart& module : kPageModules)
      files.push_back({module.name, "text/javascript; charset=utf-8", module.text});
    return files;
  }();
  return kFiles;
}

std::string print_page(const std::string& state) {
  return filled(fmt::format("{}\n<style>{}</style>", kWholeHead, kPageCss),
                fmt::format("<script type=\"application/json\" id=\"state\">{}</script>\n"
                            "<script type=\"module\">{}</script>",
                            as_script_data(state), as_one_module()));
}

std::string print_page(const Snapshot& snapshot, const Clues& clues) {
  PageState state = page_state(snapshot, clues);
  state.things["why"] = why_out_of_service(snapshot, clues);
  return print_page(print_json(state));
}

}  // namespace berth
