// Every refusal has a compile-fail sample that expects its text; the sample itself asserts that
// `composable` gives the same Refusal.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "kvpleat/format/composable.h"

namespace kvpleat {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Samples whose first line expects the start of `sentence` and that name a Refusal.
int samples_of(std::string_view sentence) {
  constexpr std::string_view kExpect = "// expect: kvpleat: ";
  int found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SOURCE_FOLDER "/tests/compile_fail")) {
    const std::string source = read_file(entry.path());
    if (!source.starts_with(kExpect)) continue;
    const std::string_view line = std::string_view(source).substr(0, source.find('\n'));
    found += sentence.starts_with(line.substr(kExpect.size())) &&
             source.find("refusal ==") != std::string::npos;
  }
  return found;
}

TEST_CASE("every refusal has a compile-fail sample with its text") {
  for (std::uint8_t i = 1; reason(static_cast<Refusal>(i)) != "unknown"; ++i) {
    const std::string sentence(reason(static_cast<Refusal>(i)));
    CAPTURE(sentence);
    CHECK(samples_of(sentence) >= 1);
  }
}

}  // namespace
}  // namespace kvpleat
