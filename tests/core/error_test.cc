#include "kvpleat/core/error.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

using namespace kvpleat;

namespace {

// Counts how many of it live, and cannot be copied.
struct Counted {
  int* alive;
  int value;

  Counted(int* count, int v) : alive(count), value(v) { ++*alive; }
  Counted(Counted&& other) noexcept : alive(other.alive), value(std::exchange(other.value, 0)) {
    ++*alive;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive; }
};

Result<Counted> make(int* alive, bool good) {
  if (!good) return Error(Status::kCapacity, "max_tokens");
  return Counted(alive, 7);
}

}  // namespace

TEST_CASE("a result holds a value or an error, and destroys what it holds") {
  int alive = 0;
  {
    auto made = make(&alive, true);
    REQUIRE(made);
    CHECK(made.has_value());
    CHECK(made->value == 7);
    CHECK((*made).value == 7);
    CHECK(std::as_const(made)->value == 7);
    CHECK(ok(made.error().status));
    CHECK(alive == 1);
    auto moved = std::move(made);
    REQUIRE(moved);
    CHECK(moved->value == 7);
    CHECK(alive == 2);  // the moved-from one still lives
  }
  CHECK(alive == 0);
  {
    auto failed = make(&alive, false);
    CHECK(!failed);
    CHECK(failed.error().status == Status::kCapacity);
    CHECK(failed.error().name() == "max_tokens");
    auto moved = std::move(failed);
    CHECK(!moved);
    CHECK(moved.error().name() == "max_tokens");
    CHECK(alive == 0);
  }
  CHECK(alive == 0);
  static_assert(!std::is_copy_constructible_v<Result<Counted>>);
}
