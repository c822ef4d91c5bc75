// SPDX-License-Identifier: Apache-2.0
#include "controller/live/program_run.h"

#include <linux/close_range.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t kMaxOutputBytes = 1u << 20;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// The path of a command by berth's own PATH; empty: not found, and nothing is started. libuv would
// search the program's environment, and its writer could then choose another program.
std::string find_program(const std::string& command) {
  if (command.find('/') != command.npos) return command;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + command;
    std::error_code ignored;
    if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(file, ignored))
      return file;
  }
  return {};
}

}  // namespace

struct ProgramRun::Handles {
  ProgramRun* run;  // null once it is destroyed
  uv_process_t process{};
  uv_pipe_t output{};
  char buffer[16384];
  int open = 2;

  static void on_closed(uv_handle_t* handle) {
    auto* self = static_cast<Handles*>(handle->data);
    if (--self->open == 0) delete self;
  }
  void close() {
    run = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&process), &Handles::on_closed);
    uv_close(reinterpret_cast<uv_handle_t*>(&output), &Handles::on_closed);
  }
};

ProgramRun::ProgramRun(UvLoop& loop, const Program& program, std::function<void(ProgramEnd)> done)
    : loop_(loop), done_(std::move(done)), handles_(new Handles{.run = this}) {
  handles_->process.data = handles_->output.data = handles_;
  uv_pipe_init(loop_.raw(), &handles_->output, 0);
  end_.cannot_start = -start(program);
  if (end_.cannot_start != 0) {
    finish();
    return;
  }
  limit_ = loop_.call_after(program.limit, [this] {
    end_.timed_out = true;
    kill();
    finish_if_over();
  });
}

ProgramRun::~ProgramRun() {
  *alive_ = false;
  loop_.cancel(limit_);
  if (done_ && !exited_) kill();
  handles_->close();
}

int ProgramRun::start(const Program& program) {
  const std::string file = find_program(program.command);
  std::vector<std::string> arguments{program.command};
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::string> environment = program.environment;
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> env = pointers(environment);
  uv_stdio_container_t stdio[3]{};
  stdio[0].flags = program.reads_input ? UV_INHERIT_FD : UV_IGNORE;
  stdio[0].data.fd = STDIN_FILENO;
  stdio[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[1].data.stream = reinterpret_cast<uv_stream_t*>(&handles_->output);
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = STDERR_FILENO;
  uv_process_options_t options{};
  options.file = file.c_str();
  options.args = argv.data();
  options.env = env.data();
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = [](uv_process_t* process, std::int64_t exit_code, int signal) {
    ProgramRun* run = static_cast<Handles*>(process->data)->run;
    if (run != nullptr) run->exited(static_cast<int>(exit_code), signal);
  };
  // The program must not inherit berth's connections, nor descriptors that berth's parent left
  // open. On kernels before 5.11 this call fails, and only descriptors that libraries marked are
  // closed.
  close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  const int failed = uv_spawn(loop_.raw(), &handles_->process, &options);
  if (failed != 0) return failed;
  return uv_read_start(
      reinterpret_cast<uv_stream_t*>(&handles_->output),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
        auto* handles = static_cast<Handles*>(handle->data);
        *buffer = uv_buf_init(handles->buffer, sizeof handles->buffer);
      },
      [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
        ProgramRun* run = static_cast<Handles*>(stream->data)->run;
        if (run != nullptr) run->take(buffer->base, count);
      });
}

void ProgramRun::take(const char* data, long count) {
  if (count < 0) {
    uv_read_stop(reinterpret_cast<uv_stream_t*>(&handles_->output));
    drained_ = true;
    return finish_if_over();
  }
  end_.output.append(data, static_cast<std::size_t>(count));
  if (end_.output.size() <= kMaxOutputBytes) return;
  end_.too_much = true;
  kill();
  finish_if_over();
}

void ProgramRun::exited(int exit_code, int signal) {
  end_.exit_code = exit_code;
  end_.signal = signal;
  exited_ = true;
  finish_if_over();
}

void ProgramRun::kill() { uv_process_kill(&handles_->process, SIGKILL); }

// A child of the program may keep its standard output open; berth waits for that under the same
// limit.
void ProgramRun::finish_if_over() {
  if (exited_ && (drained_ || end_.timed_out || end_.too_much)) finish();
}

void ProgramRun::finish() {
  if (!done_) return;
  loop_.cancel(limit_);
  loop_.post([alive = alive_, done = std::exchange(done_, nullptr), end = std::move(end_)] {
    if (*alive) done(end);
  });
}

}  // namespace berth
