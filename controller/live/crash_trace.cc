// SPDX-License-Identifier: Apache-2.0
// Outline: what is prepared before a crash; the handler, which may only call write() and walk the
// stack, for which the first backtrace() has loaded the library.
#include "controller/live/crash_trace.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kOtherTraces = true;  // AddressSanitizer's, which say more
#else
constexpr bool kOtherTraces = false;
#endif
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kMostFrames = 64;
// The handler needs a stack of its own if the stack has overflowed.
constexpr std::size_t kStackBytes = 64 * 1024;

// Written before the handlers are installed, read in them.
std::array<char, 256> g_who{};
std::size_t g_who_size = 0;
alignas(16) std::array<char, kStackBytes> g_stack;
volatile std::sig_atomic_t g_crashing = 0;

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void put_hex(std::uintptr_t number) {
  std::array<char, 2 * sizeof number> digits;
  std::size_t begin = digits.size();
  do {
    digits[--begin] = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  put({digits.data() + begin, digits.size() - begin});
}

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    default:
      return "SIGABRT";
  }
}

void on_crash(int signal, siginfo_t* info, void*) {
  if (g_crashing == 0) {  // a crash in the handler ends at once
    g_crashing = 1;
    put("berth crashes: ");
    put(name_of(signal));
    if (signal != SIGABRT) {
      put(" at 0x");
      put_hex(reinterpret_cast<std::uintptr_t>(info->si_addr));
    }
    put({g_who.data(), g_who_size});
    std::array<void*, kMostFrames> frames;
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), kMostFrames), STDERR_FILENO);
    put("end of the backtrace; please report it with the log before it\n");
  }
  // SA_RESETHAND has restored the default, and the signal is delivered once the handler returns.
  raise(signal);
}

// Reads note GNU_BUILD_ID of the program, which is visited first; 1 ends the iteration.
int read_build_id(dl_phdr_info* info, std::size_t, void* out) {
  std::string& id = *static_cast<std::string*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
      const char* const name = at + sizeof note;
      const char* const value = name + padded(note.n_namesz);
      at = value + padded(note.n_descsz);
      if (at > end || note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
          std::memcmp(name, "GNU", 4) != 0)
        continue;
      for (const char* byte = value; byte != value + note.n_descsz; ++byte) {
        id += "0123456789abcdef"[static_cast<unsigned char>(*byte) / 16];
        id += "0123456789abcdef"[static_cast<unsigned char>(*byte) % 16];
      }
      return 1;
    }
  }
  return 1;
}

}  // namespace

void leave_crash_traces(const std::string& version) {
  if (kOtherTraces) return;
  std::string id;
  dl_iterate_phdr(read_build_id, &id);
  const std::string who =
      ", berth " + version + ", build id " + (id.empty() ? "unknown" : id) + "\n";
  g_who_size = std::min(who.size(), g_who.size());
  std::copy_n(who.data(), g_who_size, g_who.data());
  // The first call loads libgcc, which allocates.
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);

  stack_t stack{};
  stack.ss_sp = g_stack.data();
  stack.ss_size = g_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace berth
