#pragma once

#include <stdexcept>
#include <string>

namespace boltzmark {

/// Base of the errors that the library throws of its own; those of the standard library may pass.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller's value is outside what a function accepts; the message reads
/// `name = value (must ...)`.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file or its content is unusable; the message reads `FILE: what is wrong (what it must be)`.
class DataError : public Error {
 public:
  using Error::Error;
};

}  // namespace boltzmark
