#include "kvpleat/core/identity.h"

#include <doctest/doctest.h>

#include <string>

using namespace kvpleat;

namespace {

std::string differing(std::string_view wanted, std::string_view found) {
  const Error error = compare_identity(wanted, found);
  CHECK(ok(error.status) == error.name().empty());
  CHECK((ok(error.status) || error.status == Status::kMismatch));
  return std::string(error.name());
}

}  // namespace

TEST_CASE("texts join at compile time and end in zero") {
  constexpr auto text = Text("dim=") + number_text<576>() + ";split=none";
  static_assert(text.view() == "dim=576;split=none");
  CHECK(std::string(text.c_str()) == "dim=576;split=none");
  CHECK(Text("").view().empty());
}

TEST_CASE("numbers as text") {
  CHECK(number_text<0>().view() == "0");
  CHECK(number_text<9>().view() == "9");
  CHECK(number_text<10>().view() == "10");
  CHECK(number_text<18446744073709551615ull>().view() == "18446744073709551615");
}

TEST_CASE("fingerprint is 64-bit FNV-1a") {
  // Published test vectors of the hash.
  CHECK(fingerprint("") == 0xcbf29ce484222325ull);
  CHECK(fingerprint("a") == 0xaf63dc4c8601ec8cull);
  CHECK(fingerprint("foobar") == 0x85944171f73967e8ull);
}

TEST_CASE("comparing identities names the first field that differs") {
  CHECK(differing("a=1;b=2", "a=1;b=2") == "");
  CHECK(differing("", "") == "");
  CHECK(differing("a=1;b=2", "a=1;b=3") == "b");
  CHECK(differing("a=1;b=2;c=3", "a=2;b=3;c=3") == "a");
  CHECK(differing("bits=4", "bits=40") == "bits");
  CHECK(differing("a=1;b=2", "a=1") == "b");
  CHECK(differing("a=1", "a=1;extra=5") == "extra");
  CHECK(differing("", "first=1") == "first");
  CHECK(differing("quant=affine;bits=4", "quant=symmetric;bits=4") == "quant");
}
