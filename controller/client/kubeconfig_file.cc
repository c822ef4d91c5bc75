// SPDX-License-Identifier: Apache-2.0
#include "controller/client/kubeconfig_file.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apis/base/base64.h"
#include "apis/codec/yaml_scalar.h"

namespace berth {
namespace {

// Reads the fields of one YAML mapping. It keeps the first error; all later reads give empty
// values.
class Fields {
 public:
  Fields(YAML::Node map, std::string file, std::string path, std::optional<Error>& error)
      : map_(std::move(map)), file_(std::move(file)), path_(std::move(path)), error_(error) {
    if (map_.IsDefined() && !map_.IsNull() && !map_.IsMap()) complain("", "must be a mapping");
  }

  std::string text(const char* key) {
    const YAML::Node value = find(key);
    if (!value.IsDefined() || value.IsNull()) return {};
    if (!value.IsScalar()) {
      complain(key, "must be a string");
      return {};
    }
    return value.Scalar();
  }
  bool flag(const char* key) {
    const std::string value = text(key);
    if (value.empty() || value == "false") return false;
    if (value != "true") complain(key, "must be true or false, not \"" + value + "\"");
    return value == "true";
  }
  std::vector<std::string> texts(const char* key) {
    const YAML::Node value = find(key);
    std::vector<std::string> out;
    if (!value.IsDefined() || value.IsNull()) return out;
    if (!value.IsSequence()) complain(key, "must be a list of strings");
    for (const YAML::Node& item : value) {
      if (item.IsScalar()) {
        out.push_back(item.Scalar());
      } else {
        complain(key, "must be a list of strings");
      }
    }
    return out;
  }
  // A path; a relative one starts at the kubeconfig's folder.
  std::string path(const char* key) {
    const std::string value = text(key);
    if (value.empty() || value.front() == '/') return value;
    const std::size_t slash = file_.rfind('/');
    return slash == std::string::npos ? value : file_.substr(0, slash + 1) + value;
  }
  // `key` names a file; `key`-data contains the same in base64.
  PemSource pem(const char* key) {
    const std::string data_key = std::string(key) + "-data";
    PemSource source;
    const std::string encoded = text(data_key.c_str());
    if (encoded.empty()) {
      source.file = path(key);
      return source;
    }
    std::optional<std::string> decoded = decode_base64(encoded);
    if (!decoded) {
      complain(data_key, "is not base64");
    } else if (decoded->find("-----BEGIN ") == std::string::npos) {
      complain(data_key, "does not hold a PEM block (\"-----BEGIN …\") once decoded");
    } else {
      source.data = std::move(*decoded);
    }
    return source;
  }
  // The value as JSON; empty if it is absent.
  std::string json(const char* key) const {
    const YAML::Node value = find(key);
    if (!value.IsDefined() || value.IsNull()) return {};
    const Result<nlohmann::json> typed = to_json(value);
    if (typed.has_value())
      return typed->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    complain(key, typed.error().message);
    return {};
  }
  bool has(const char* key) const {
    const YAML::Node value = find(key);
    return value.IsDefined() && !value.IsNull();
  }
  Fields below(const char* key) const {
    return Fields(find(key), file_, path_.empty() ? key : path_ + "." + key, error_);
  }
  // The entries of a list of mappings.
  std::vector<Fields> list(const char* key) const {
    std::vector<Fields> out;
    const YAML::Node value = find(key);
    if (!value.IsDefined() || value.IsNull()) return out;
    if (!value.IsSequence()) complain(key, "must be a list");
    const std::string path = path_.empty() ? key : path_ + "." + key;
    for (std::size_t i = 0; i < value.size() && value.IsSequence(); ++i) {
      out.push_back(Fields(value[i], file_, path + "[" + std::to_string(i) + "]", error_));
    }
    return out;
  }
  std::string where() const { return file_ + ": " + path_; }
  void complain(const std::string& key, std::string message) const {
    if (error_) return;
    std::string at = path_;
    if (!at.empty() && !key.empty()) at += ".";
    at += key;
    error_ = invalid_spec(at.empty() ? file_ : file_ + ": " + at, std::move(message));
  }

 private:
  static Result<nlohmann::json> to_json(const YAML::Node& value) {
    if (value.IsScalar()) return type_scalar(value.Scalar(), value.Tag());
    nlohmann::json out = value.IsMap() ? nlohmann::json::object() : nlohmann::json();
    if (value.IsSequence()) out = nlohmann::json::array();
    for (const auto& entry : value) {
      Result<nlohmann::json> item = to_json(value.IsMap() ? entry.second : entry);
      if (!item.has_value()) return item;
      if (value.IsMap()) {
        out[entry.first.Scalar()] = *std::move(item);
      } else {
        out.push_back(*std::move(item));
      }
    }
    return out;
  }
  YAML::Node find(const std::string& key) const {
    const YAML::Node& map = map_;  // operator[] on a const node does not add the key
    return map.IsDefined() && map.IsMap() ? map[key] : YAML::Node(YAML::NodeType::Undefined);
  }

  YAML::Node map_;
  std::string file_;
  std::string path_;
  std::optional<Error>& error_;
};

KubeCluster read_cluster(Fields fields) {
  KubeCluster cluster;
  cluster.where = fields.where();
  cluster.server = fields.text("server");
  cluster.certificate_authority = fields.pem("certificate-authority");
  cluster.insecure_skip_tls_verify = fields.flag("insecure-skip-tls-verify");
  cluster.tls_server_name = fields.text("tls-server-name");
  cluster.proxy_url = fields.text("proxy-url");
  for (Fields& extension : fields.list("extensions")) {
    if (extension.text("name") == "client.authentication.k8s.io/exec")
      cluster.exec_config = extension.json("extension");
  }
  return cluster;
}

ExecPlugin read_exec(Fields fields) {
  ExecPlugin exec;
  exec.where = fields.where();
  exec.api_version = fields.text("apiVersion");
  exec.command = fields.text("command");
  // PATH is searched for a bare name.
  if (exec.command.find('/') != std::string::npos) exec.command = fields.path("command");
  exec.arguments = fields.texts("args");
  for (Fields& variable : fields.list("env")) {
    exec.environment.emplace_back(variable.text("name"), variable.text("value"));
  }
  exec.install_hint = fields.text("installHint");
  return exec;
}

KubeUser read_user(Fields fields) {
  KubeUser user;
  user.where = fields.where();
  user.client_certificate = fields.pem("client-certificate");
  user.client_key = fields.pem("client-key");
  user.token = fields.text("token");
  user.token_file = fields.path("tokenFile");
  user.username = fields.text("username");
  user.password = fields.text("password");
  user.impersonate_user = fields.text("as");
  user.impersonate_uid = fields.text("as-uid");
  user.impersonate_groups = fields.texts("as-groups");
  if (fields.has("exec")) {
    user.exec = read_exec(fields.below("exec"));
    user.exec_input = fields.below("exec").text("interactiveMode");
    user.exec_wants_cluster = fields.below("exec").flag("provideClusterInfo");
  }
  for (const char* key : {"auth-provider", "as-user-extra"}) {
    if (user.unsupported.empty() && fields.has(key)) user.unsupported = key;
  }
  return user;
}

KubeContext read_context(Fields fields) {
  KubeContext context;
  context.where = fields.where();
  context.cluster = fields.text("cluster");
  context.user = fields.text("user");
  context.namespace_ = fields.text("namespace");
  return context;
}

// Each entry of `list` has a name and an object under `key`. For a duplicate name the first entry
// counts.
template <class T>
std::map<std::string, T> read_entries(const Fields& root, const char* list, const char* key,
                                      T (*read)(Fields)) {
  std::map<std::string, T> out;
  for (Fields& entry : root.list(list)) {
    const std::string name = entry.text("name");
    if (name.empty()) entry.complain("name", "is missing");
    out.emplace(name, read(entry.below(key)));
  }
  return out;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& file) {
  Kubeconfig config;
  std::optional<Error> error;
  try {
    Fields root(YAML::Load(text), file, "", error);
    config.current_context = root.text("current-context");
    config.clusters = read_entries(root, "clusters", "cluster", read_cluster);
    config.users = read_entries(root, "users", "user", read_user);
    config.contexts = read_entries(root, "contexts", "context", read_context);
  } catch (const YAML::Exception& e) {
    return invalid_spec(file + ":" + std::to_string(e.mark.line + 1), "not YAML: " + e.msg);
  }
  if (error) return *std::move(error);
  return config;
}

void merge_kubeconfig(Kubeconfig& base, Kubeconfig later) {
  base.clusters.merge(later.clusters);
  base.users.merge(later.users);
  base.contexts.merge(later.contexts);
  if (base.current_context.empty()) base.current_context = std::move(later.current_context);
}

}  // namespace berth
