#pragma once

#include <string>
#include <string_view>

namespace boltzmark {

/// What a file's first bytes, unpacked if they are gzip's, say it is.
enum class FileKind { zip, matlab, npy, idx, binary_matrix, text, unknown };

/// Recognises a file by content.  Throws  DataError if it cannot be read
FileKind file_kind(const std::string& path);

/// Recognises the first bytes of a file.
FileKind kind_of(std::string_view head);

}  // namespace boltzmark
