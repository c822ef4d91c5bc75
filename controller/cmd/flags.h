// SPDX-License-Identifier: Apache-2.0
// Flags: the command line as tables. A Flag knows its name, its help, how to read its text into a
// field and how to show the field; command_line.h makes CLI11 options of them, --print-config
// prints them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apis/result.h"
#include "apis/time.h"
#include "controller/certificates/certificate_keeper.h"
#include "controller/client/kubeconfig.h"
#include "controller/core/settings.h"
#include "controller/runtime/controller.h"

namespace berth {

struct Flag {
  enum class Kind {
    kValue,       // --name=value
    kSwitch,      // --name, --name=false
    kList,        // --name=value, again and again; set() is called for each
    kPositional,  // a word of its own; `name` is what the help calls it
    kWords,       // several of them; set() is called for each
  };
  std::string name;  // "--settle", "-o,--output", "FILE"
  std::string help;
  Kind kind = Kind::kValue;
  std::function<Result<void>(const std::string& text)> set;
  std::function<std::string()> show;
  // What stands there: "FILE", "DURATION", or the words themselves: "text|json". The help says it,
  // and completion goes by it. Empty: TEXT, or nothing of a switch.
  std::string value = {};
  std::string group = {};  // its heading in the help; empty: "Options"
};
using FlagTable = std::vector<Flag>;
// All of them under one heading.
FlagTable in_group(const std::string& heading, FlagTable table);

// Headings that several commands have.
inline constexpr char kClusterGroup[] = "Which cluster, and as whom";
inline constexpr char kPlacesGroup[] = "Where things are in the cluster";
inline constexpr char kAdvancedGroup[] = "Advanced";

// A flag that fills one field, by the field's type.
Flag text_flag(std::string name, std::string& field, std::string help);
Flag file_flag(std::string name, std::string& field, std::string help);
Flag switch_flag(std::string name, bool& field, std::string help);
Flag duration_flag(std::string name, Duration& field, std::string help);
Flag list_flag(std::string name, std::vector<std::string>& field, std::string help);
Flag words_flag(std::string name, std::vector<std::string>& field, std::string help);
Flag number_flag(std::string name, double& field, std::string help);
Flag count_flag(std::string name, int& field, std::string help);
// all, none, or keys separated by commas.
Flag keys_flag(std::string name, KeyList& field, std::string help);
// One of the words.
Flag choice_flag(std::string name, std::string& field, std::vector<std::string> words,
                 std::string help);

struct LogFlags {
  std::string level = "info";
  std::string format = "text";
};

// -f,--filename of what reads manifests.
Flag manifest_flag(std::vector<std::string>& files, const std::string& what);
FlagTable connection_flags(ConfigFlags& flags);
// Those, and what may log people in.
FlagTable login_flags(ConfigFlags& flags);
FlagTable settings_flags(Settings& settings);
// Which keys pools may set on nodes; among the settings already.
FlagTable node_key_flags(WritableKeys& keys);
// Of whatever has GPUs measured.
FlagTable measuring_flags(Settings& settings);
FlagTable log_flags(LogFlags& flags);

// Whether `text` is one of the words, which an error names with the flag.
Result<void> one_of(const std::string& flag, const std::string& text,
                    const std::vector<std::string>& words);

// What a keeper of the webhook's certificates is told, whichever program it runs in.
struct KeeperFlags {
  CertificateKeeperOptions options;
  Duration check = std::chrono::minutes(1);
};
FlagTable keeper_flags(KeeperFlags& flags);
Result<void> validate(const KeeperFlags& flags);

// --webhook-certificates of a controller: of no Secret's.
inline constexpr char kNoCertificates[] = "off";

// Where a long-running program is probed and scraped (service.h).
struct ProbeFlags {
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";
  bool authorization = false;  // of the metrics
};

struct ControllerFlags {
  ConfigFlags connection;
  ControllerOptions options{.keep_history = true};
  KeeperFlags keeper{.options = {.leaf_secret = kNoCertificates}};
  LogFlags log;
  double api_qps = 300;
  int api_burst = 500;
  double status_qps = 50;
  int status_burst = 100;
  ProbeFlags probes;
  std::string page_bind_address = "0";
  std::string page_certificate_folder;
  bool page_plain_http = false;
  bool print_config = false;
};
FlagTable controller_flags(ControllerFlags& flags);
// Everything that is wrong with the values together.
Result<void> validate(const ControllerFlags& flags);

// "--name=value" for each, in the table's order: made to be compared by diff.
std::string print_config(const FlagTable& table);

}  // namespace berth
