// A program with its own main and another test framework, whose macros are the usual words.
#include <cstdio>

#define TEST(suite, name) static bool suite##_##name()
#define TEST_CASE(...) hostile_test_case_macro
#define CHECK(condition) \
  if (!(condition)) return false
#define REQUIRE(...) hostile_require_macro
#define SUBCASE(...) hostile_subcase_macro
#define INFO(...) hostile_info_macro
#define BENCHMARK(...) hostile_benchmark_macro

#include <kvpleat/kvpleat.h>

TEST(Cache, KeepsATokenExactly) {
  auto made = kvpleat::KvCache<kvpleat::presets::F32<4>>::create(
      {.layers = 1, .kv_heads = 1, .max_tokens = 1});
  CHECK(made);
  const float row[4] = {1, 2, 3, 4};
  CHECK(ok(made->append(0, {row, 1, 1, 4}, {row, 1, 1, 4})));
  float value[4];
  CHECK(ok(made->read(0, 0, 0, 1, nullptr, value)));
  CHECK(value[3] == 4);
  return true;
}

int main() {
  const bool passed = Cache_KeepsATokenExactly();
  std::puts(passed ? "passed" : "failed");
  return passed ? 0 : 1;
}
