#include "boltzmark/io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "boltzmark/io/place.hpp"

namespace boltzmark {

InputFile::InputFile(const std::string& path) : path_(path) {
  const Place place{path};
  // O_NONBLOCK: opening a pipe nobody writes to must not hang; it changes nothing for files.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) place.refuse("is missing", "must exist");
    place.refuse(fmt::format("cannot be read: {}", std::strerror(errno)), "must be readable");
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  size_ = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (known && S_ISREG(status.st_mode) && size_ > 0) return;
  ::close(descriptor_);  // the destructor does not run after a throw
  if (known && S_ISDIR(status.st_mode)) place.refuse("is a folder", "must be a file");
  if (!known || !S_ISREG(status.st_mode)) place.refuse("is no regular file", "must be one");
  place.refuse("is empty", "must hold data");
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void* out, std::size_t count) const {
  auto* next = static_cast<unsigned char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Place{path_}.refuse(fmt::format("cannot be read: {}", std::strerror(errno)),
                          "must be readable");
    }
    if (got == 0) Place{path_}.refuse("is truncated", "must be whole");
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace boltzmark
