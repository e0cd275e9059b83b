#include "boltzmark/io/sha256.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

std::string digest(const std::string& text, Sha256::Path path) {
  Sha256 hash(path);
  hash.update(text.data(), text.size());
  return hash.finish();
}

}  // namespace

TEST_CASE("SHA-256 gives NIST's published digests on both paths") {
  // FIPS 180-4 examples and the NIST CAVP million-a message.
  for (const auto path : {Sha256::Path::fastest, Sha256::Path::portable}) {
    CHECK(digest("abc", path) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("", path) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", path) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(std::string(1000000, 'a'), path) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST_CASE("SHA-256 of 512 MiB has a length of more than 32 bits") {
  // Of as many zeros, by sha256sum of GNU coreutils.
  const std::string piece(std::size_t{1} << 20, '\0');
  Sha256 hash;
  for (int i = 0; i < 512; ++i) hash.update(piece.data(), piece.size());
  CHECK(hash.finish() == "9acca8e8c22201155389f65abbf6bc9723edc7384ead80503839f49dcc56d767");
}

TEST_CASE("SHA-256 does not depend on how the bytes are cut, and both paths agree") {
  Stream draws(make_key(1, "io_sha256"), Purpose::test);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text(draws.below(400), '\0');
    for (char& c : text) c = static_cast<char>(draws());
    Sha256 pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(draws.below(150), text.size() - at);
      pieces.update(text.data() + at, size);
      at += size;
    }
    const std::string whole = digest(text, Sha256::Path::portable);
    CHECK(pieces.finish() == whole);
    CHECK(digest(text, Sha256::Path::fastest) == whole);
  }
}
