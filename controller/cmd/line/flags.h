// SPDX-License-Identifier: Apache-2.0
// Flags: the command line as tables. A Flag has a name and a help text, sets a field from text, and
// shows the field. command_line.h makes CLI11 options from it, and --print-config prints it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/certificates/certificate_keeper.h"
#include "controller/client/kubeconfig.h"
#include "controller/core/settings.h"
#include "controller/runtime/controller.h"

namespace berth {

struct Flag {
  enum class Kind {
    kValue,       // --name=value
    kSwitch,      // --name, --name=false
    kList,        // --name=value, repeatable; calls set() for each
    kPositional,  // a bare word; `name` is its name in the help
    kWords,       // several bare words; calls set() for each
  };
  std::string name;  // "--settle", "-o,--output", "FILE"
  std::string help;
  Kind kind = Kind::kValue;
  std::function<Result<void>(const std::string& text)> set;
  std::function<std::string()> show;
  // The kind of value: "FILE", "DURATION", or all allowed words: "text|json". The help and
  // completion use it. Empty: TEXT, or no value for a switch.
  std::string value = {};
  std::string group = {};  // heading in the help; empty: "Options"
};
using FlagTable = std::vector<Flag>;
// Puts all flags under one heading.
FlagTable in_group(const std::string& heading, FlagTable table);

// Headings that several commands use.
inline constexpr char kClusterGroup[] = "Which cluster, and as whom";
inline constexpr char kPlacesGroup[] = "Where things are in the cluster";
inline constexpr char kAdvancedGroup[] = "Advanced";

// A flag for one field, by the field's type.
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

// -f,--filename of commands that read manifests.
Flag manifest_flag(std::vector<std::string>& files, const std::string& what);
FlagTable connection_flags(ConfigFlags& flags);
// Adds flags for credential plugins to connection_flags().
FlagTable login_flags(ConfigFlags& flags);
FlagTable settings_flags(Settings& settings);
// The keys that pools may set on nodes; settings_flags() contains them.
FlagTable node_key_flags(WritableKeys& keys);
// For programs that measure GPUs.
FlagTable measuring_flags(Settings& settings);
FlagTable log_flags(LogFlags& flags);

// An error unless `text` is one of the words; it names them and the flag.
Result<void> one_of(const std::string& flag, const std::string& text,
                    const std::vector<std::string>& words);

// Flags of the certificate manager, in any program.
struct KeeperFlags {
  CertificateKeeperOptions options;
  Duration check = std::chrono::minutes(1);
};
FlagTable keeper_flags(KeeperFlags& flags);
Result<void> validate(const KeeperFlags& flags);

// --webhook-certificates of a controller that manages none.
inline constexpr char kNoCertificates[] = "off";

// Where a service answers probes and scrapes (service.h).
struct ProbeFlags {
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";
  bool authorization = false;      // for the metrics
  std::string certificate_folder;  // likewise
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
// All errors in the values together.
Result<void> validate(const ControllerFlags& flags);

// "--name=value" for each flag, in the table's order: suited for diff.
std::string print_config(const FlagTable& table);

}  // namespace berth
