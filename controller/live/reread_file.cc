// SPDX-License-Identifier: Apache-2.0
#include "controller/live/reread_file.h"

#include <utility>

namespace berth {

RereadFile::RereadFile(const Loop& loop, const Host& host, Log& log, std::string path,
                       std::chrono::nanoseconds max_age)
    : loop_(loop), host_(host), log_(log), path_(std::move(path)), max_age_(max_age) {}

const std::string& RereadFile::text() {
  if (!read_at_ || loop_.now() - *read_at_ >= max_age_) refresh();
  return text_;
}

bool RereadFile::refresh() {
  read_at_ = loop_.now();
  FileText read = host_.read_file(path_);
  // A file that is being written may be empty for a moment.
  const bool good = read.text.has_value() && !read.text->empty();
  if (!good) {
    const std::string why = read.text ? "it is empty" : read.error;
    if (!std::exchange(failing_, true)) {
      log_.warn("cannot re-read a file; its last good content stays in use",
                {{"path", path_}, {"error", why}});
    }
    return false;
  }
  failing_ = false;
  if (*read.text == text_) return false;
  text_ = std::move(*read.text);
  return true;
}

}  // namespace berth
