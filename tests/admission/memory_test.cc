// SPDX-License-Identifier: Apache-2.0
// The cost of one request: a body of the largest accepted size, full of anything that can be
// repeated, takes a few times its size in memory and gets a short answer. Each request runs in a
// process of its own, whose peak the kernel reports.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kBody = 7u << 20;       // kMaxReviewBytes
constexpr std::size_t kMaxAnswer = 2u << 20;  // a patch of 1 MiB in base64
constexpr std::size_t kSome = 20u << 20;      // including the sanitizer's share

// A field of /proc/self/status, in bytes.
std::size_t status_of_process(std::string_view field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field))
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
  return 0;
}

constexpr std::size_t kAround = 2048;  // for the envelope and the text around a list

// Makes lists so that the body has this size.
struct Filler {
  std::size_t bytes;
  std::string operator()(const std::function<std::string(int)>& item) const {
    std::string list;
    for (int i = 0;; ++i) {
      const std::string next = (i > 0 ? "," : "") + item(i);
      if (list.size() + next.size() > bytes - kAround) return list;
      list += next;
    }
  }
  std::string operator()(const char* item) const {
    return (*this)([item](int) { return std::string(item); });
  }
};

struct Cost {
  std::size_t growth = 0;
  std::size_t answer = 0;  // of the longer one
  std::string begin;       // of the answer
};

// For both paths, one after the other; `begin` is of the second answer.
Cost cost_of(const std::string& body, const ClusterState& cluster) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t before = status_of_process("VmRSS:");
    const std::size_t patch = review(kMutate, body, cluster, Settings()).body.size();
    const ReviewReply reply = review(kValidate, body, cluster, Settings());
    const std::string told =
        fmt::format("{} {} {}", status_of_process("VmHWM:") - before,
                    std::max(patch, reply.body.size()), reply.body.substr(0, 1000));
    const bool written = write(ends[1], told.data(), told.size()) > 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string told(4096, '\0');
  const ssize_t size = read(ends[0], told.data(), told.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  if (size <= 0) return {};
  told.resize(static_cast<std::size_t>(size));
  Cost cost;
  std::istringstream in(told);
  in >> cost.growth >> cost.answer;
  std::getline(in, cost.begin);
  return cost;
}

struct Shape {
  const char* name;
  Request request;
  const char* says;  // in the answer of the refusing path
};

std::string affinity(const std::string& terms) {
  return R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":[)" +
         terms + "]}}}}";
}

// A pod with a GPU request and this in its spec.
Request with(const std::string& more) {
  return pod(R"({"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"2"}}}],)" +
             more + "}");
}

Request of_container(const std::string& fields) {
  return pod(R"({"containers":[{"resources":{"limits":{"nvidia.com/gpu":"2"}},)" + fields + "}]}");
}

Request own(const char* kind, const std::string& spec) {
  return {.object = fmt::format(R"({{"metadata":{{"name":"cluster"}},"spec":{}}})", spec),
          .group = "gpu.berth.dev",
          .kind = kind,
          .ns = ""};
}

std::vector<Shape> shapes_of_pods(std::size_t bytes) {
  const Filler fill{bytes};
  const std::string empty = fill("{}");
  const std::string request = fill(R"({"resources":{"requests":{"nvidia.com/gpu":"2"}}})");
  const char* many = "values";  // more of them than any object has
  const auto numbered = [&fill](const char* format) {
    return fill([format](int i) { return fmt::format(fmt::runtime(format), i); });
  };
  return {
      {"tolerations", with(R"("tolerations":[)" + empty + "]"), many},
      {"terms", pod(affinity(empty)), many},
      {"expressions", pod(affinity(R"({"matchExpressions":[)" + empty + "]}")), many},
      {"fields", pod(affinity(R"({"matchFields":[)" + empty + "]}")), many},
      {"values", pod(affinity(R"({"matchExpressions":[{"values":[)" + fill("\"\"") + "]}]}")),
       many},
      {"node selector", with(R"("nodeSelector":{)" + numbered(R"("{}":"")") + "}"), many},
      {"containers", pod(R"({"containers":[)" + empty + "]}"), many},
      {"containers that ask", pod(R"({"containers":[)" + request + "]}"), many},
      {"init containers", with(R"("initContainers":[)" + empty + "]"), many},
      {"a job's containers", job(R"({"containers":[)" + request + "]}"), many},
      {"null containers", pod(R"({"containers":[)" + fill("null") + "]}"), many},
      {"resources", pod(container(R"({"limits":{)" + numbered(R"("nvidia.com/gpu{}":1)") + "}}")),
       many},
      {"volumes", with(R"("volumes":[)" + empty + "]"), many},
      {"env", of_container(R"("env":[)" + empty + "]"), many},
      {"envFrom", of_container(R"("envFrom":[)" + empty + "]"), many},
      {"mounts", of_container(R"("volumeMounts":[)" + empty + "]"), many},
      {"capabilities",
       of_container(R"("securityContext":{"capabilities":{"add":[)" + fill("\"\"") + "]}}"), many},
      {"what berth doesn't know", with(R"("x":[)" + fill("[]") + "]"), many},
      {"open brackets", with(R"("x":)" + std::string(bytes - kAround, '[')), many},
      // Fewer and longer ones.
      {"long values",
       pod(affinity(R"({"matchExpressions":[{"values":[)" +
                    fill([](int i) { return fmt::format(R"("{:060}")", i); }) + "]}]}")),
       "berth looks at"},
      {"long tolerations",
       with(R"("tolerations":[)" +
            fill([](int i) { return fmt::format(R"({{"key":"{:0120}"}})", i); }) + "]"),
       "spec.tolerations: has "},
      {"long containers",
       pod(R"({"containers":[)" +
           fill([](int i) { return fmt::format(R"({{"name":"{:0120}"}})", i); }) + "]}"),
       "spec.containers: has "},
      {"long volumes",
       with(R"("volumes":[)" +
            fill([](int i) { return fmt::format(R"({{"name":"{:0120}"}})", i); }) + "]"),
       "spec.volumes: has "},
      {"a resource's name",
       pod(container(R"({"limits":{"nvidia.com/gpu)" + std::string(bytes - kAround, 'x') +
                     R"(":1}})")),
       "no node or MIGLayout offers"},
      {"an escaped name",
       pod(container(R"({"limits":{"nvidia.com/gpu)" + fill("\\u0001") + R"(":1}})")), "Failure"},
  };
}

std::vector<Shape> shapes_of_own_kinds(std::size_t bytes) {
  const Filler fill{bytes};
  const std::string empty = fill("{}");
  const char* many = "values";
  const std::string long_items = fill([](int i) { return fmt::format(R"("{:060}")", i); });
  const std::string long_fields = fill([](int i) { return fmt::format(R"("{:060}":1)", i); });
  Request old = own("MIGLayout", "{}");
  old.old_object = R"({"spec":{"devices":[)" + empty + "]}}";
  Request status = own("MIGLayout", "{}");
  status.object = R"({"status":{"details":[)" + empty + "]}}";
  return {
      {"devices", own("MIGLayout", R"({"devices":[)" + empty + "]}"), many},
      {"pools", own("GPUClusterPolicy", R"({"pools":[)" + empty + "]}"), many},
      {"devices before", old, many},
      {"details", status, many},
      {"products", own("MIGLayout", R"({"productSelector":[)" + long_items + "]}"),
       "spec.productSelector: has "},
      {"profiles", own("MIGLayout", R"({"devices":[{"profiles":{)" + long_fields + "}}]}"),
       "spec.devices[0].profiles: has "},
      {"values of a pool",
       own("GPUClusterPolicy", R"({"pools":[{"nodeSelector":{"matchExpressions":[{"values":[)" +
                                   long_items + "]}]}}]}"),
       "spec.pools[0].nodeSelector.matchExpressions[0].values: has "},
      {"labels of a pool",
       own("GPUClusterPolicy", R"({"pools":[{"labels":{)" + long_fields + "}}]}"),
       "spec.pools[0].labels: has "},
      {"what is not in the table", own("GPUClusterPolicy", R"({"x":[)" + long_items + "]}"),
       "allowed\":true"},
  };
}

void expect_cheap(const Shape& shape, bool says) {
  SCOPED_TRACE(shape.name);
  const ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.security_context = true;
    spec.admission.defaults.shared_memory = *Quantity::parse("1Gi");
    spec.admission.defaults.priority_class_name = "training-batch";
  });
  const std::string body = shape.request.str();
  ASSERT_LE(body.size(), kBody);
  const Cost cost = cost_of(body, cluster);
  EXPECT_LE(cost.growth, 4 * body.size() + kSome) << cost.growth / (1 << 20) << " MiB";
  EXPECT_LE(cost.answer, kMaxAnswer);
  EXPECT_THAT(cost.begin, HasSubstr(says ? shape.says : ""));
}

TEST(Memory, AHugePodCostsAFewTimesItsSize) {
  for (const Shape& shape : shapes_of_pods(kBody)) expect_cheap(shape, true);
}

TEST(Memory, AHugeObjectOfBerthsOwnDoesToo) {
  for (const Shape& shape : shapes_of_own_kinds(kBody)) expect_cheap(shape, true);
}

// So small that its values are not counted, or are few enough.
TEST(Memory, AndSoDoesALargeOne) {
  for (const std::size_t bytes : {500'000, 250'000})
    for (const auto& shapes : {shapes_of_pods(bytes), shapes_of_own_kinds(bytes)})
      for (const Shape& shape : shapes) expect_cheap(shape, false);
}

// These bytes are not part of an object.
TEST(Memory, NeitherDoesTheEnvelopeCostMore) {
  const auto envelope = [](const std::string& uid, const std::string& groups) {
    return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")" +
           uid + R"(","kind":{"kind":"Pod"},"userInfo":{"groups":[)" + groups + "]}}}";
  };
  const ClusterState cluster = make_cluster();
  for (const std::string& body :
       {envelope("u", Filler{kBody}("\"\"")), envelope(std::string(kBody - kAround, 'u'), "")}) {
    const Cost cost = cost_of(body, cluster);
    EXPECT_LE(cost.growth, 4 * body.size() + kSome);
    EXPECT_LE(cost.answer, 4096u);
  }
}

}  // namespace
}  // namespace berth::test
