#include "compare/npy.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

// A .npy file: version, header text as given, data.
Bytes npy(unsigned major, const std::string& header, const Bytes& data) {
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<unsigned char>(major), 0};
  for (std::size_t i = 0; i < (major == 1 ? 2u : 4u); ++i)
    file.push_back(static_cast<unsigned char>(header.size() >> (8 * i)));
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}
Bytes floats(const std::vector<float>& values) {
  Bytes data(values.size() * 4);
  std::memcpy(data.data(), values.data(), data.size());
  return data;
}
std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
// The message of a refusal; "accepted" if there was none. A refusal must leave the array alone.
std::string refusal(const Bytes& file) {
  compare::NpyArray array;
  array.shape = {7};
  std::string error;
  if (compare::parse_npy("x.npy", file, array, error)) return "accepted";
  CHECK(array.shape == std::vector<std::size_t>{7});
  CHECK(array.values.empty());
  CHECK(error.substr(0, 7) == "x.npy: ");
  CHECK(error.find('\n') == std::string::npos);
  return error;
}
bool says(const std::string& error, const std::string& part) {
  return error.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("npy: float32 and float16 of every version come out exact") {
  const std::vector<float> values = {0.0f, -1.5f, 65504.0f, 0x1p-24f, 3.0f, -0.25f};
  for (const unsigned major : {1u, 2u, 3u}) {
    compare::NpyArray array;
    std::string error;
    REQUIRE(compare::parse_npy("a", npy(major, header("<f4", "False", "(2, 3)"), floats(values)),
                               array, error));
    CHECK(array.shape == std::vector<std::size_t>{2, 3});
    CHECK(array.values == values);
    const Bytes halves = {0x00, 0x00, 0x00, 0xbe, 0xff, 0x7b, 0x01, 0x00, 0x00, 0x42, 0x00, 0xb4};
    REQUIRE(
        compare::parse_npy("a", npy(major, header("<f2", "False", "(6,)"), halves), array, error));
    CHECK(array.values == values);
  }
}

TEST_CASE("npy: scalars and empty arrays") {
  compare::NpyArray array;
  std::string error;
  REQUIRE(
      compare::parse_npy("a", npy(1, header("<f4", "False", "()"), floats({2.0f})), array, error));
  CHECK(array.shape.empty());
  CHECK(array.values == std::vector<float>{2.0f});
  REQUIRE(compare::parse_npy("a", npy(1, header("<f4", "False", "(0, 3)"), {}), array, error));
  CHECK(array.values.empty());
}

TEST_CASE("OC-81 the header length lies") {
  const Bytes good = npy(1, header("<f4", "False", "(1,)"), floats({1.0f}));
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))) !=
          "accepted");
  }
  Bytes longer = good;
  longer.push_back(0);
  CHECK(says(refusal(longer), "promises 4 bytes"));
  for (const std::uint32_t length : {0u, 1u, 0xffffu}) {
    Bytes lie = good;
    lie[8] = static_cast<unsigned char>(length & 255u);
    lie[9] = static_cast<unsigned char>(length >> 8);
    CHECK(refusal(lie) != "accepted");
  }
  Bytes huge = npy(2, header("<f4", "False", "(1,)"), floats({1.0f}));
  for (int i = 8; i < 12; ++i) huge[static_cast<std::size_t>(i)] = 0xff;
  CHECK(says(refusal(huge), "beyond the end of the file"));
}

TEST_CASE("OC-82 the product of the shape wraps") {
  const Bytes data = floats({1.0f});
  for (const char* shape : {"(4294967296, 4294967296)", "(4611686018427387904, 4)",
                            "(18446744073709551616,)", "(99999999999999999999999999,)"}) {
    CHECK(says(refusal(npy(1, header("<f4", "False", shape), data)), "overflows"));
  }
  CHECK(says(refusal(npy(1, header("<f4", "False", "(-1,)"), data)), "shape is not a tuple"));
  CHECK(says(refusal(npy(1, header("<f4", "False", "(1000000000,)"), data)),
             "promises 4000000000 bytes"));
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  CHECK(says(refusal(npy(1, header("<f4", "False", many + ")"), data)), "shape is not a tuple"));
}

TEST_CASE("OC-84 headers that are not ours are refused by name") {
  const Bytes data = floats({1.0f});
  CHECK(says(refusal(npy(9, header("<f4", "False", "(1,)"), data)), "unknown .npy version 9.0"));
  CHECK(says(refusal(npy(1, header("<f4", "True", "(1,)"), data)), "Fortran order"));
  for (const char* type : {">f4", "<i8", "|u1", "<f8", "|V2", "<c8"}) {
    CHECK(says(refusal(npy(1, header(type, "False", "(1,)"), data)),
               std::string("type '") + type + "'"));
  }
  CHECK(says(refusal({'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}), "not a .npy file"));
  for (const char* text :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}"}) {
    CHECK(says(refusal(npy(1, text, data)), "bad header"));
  }
  // Long headers are fine: version 2 exists for them.
  const std::string padded = header("<f4", "False", "(1,)") + std::string(70000, ' ');
  CHECK(refusal(npy(2, padded, data)) == "accepted");
  CHECK(refusal(npy(1, header("<f4", "False", "(1,)") + std::string(300, ' ') + "\n", data)) ==
        "accepted");
}

TEST_CASE("npy: a file that is not there") {
  compare::NpyArray array;
  std::string error;
  CHECK_FALSE(compare::read_npy("/nonexistent/k.npy", array, error));
  CHECK(error == "/nonexistent/k.npy: cannot be opened");
}
