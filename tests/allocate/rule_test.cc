#include "kvpleat/allocate/rule.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

static_assert(BitAllocator<RuleAllocator<>> && BitAllocator<RuleAllocator<false>>);
static_assert(RuleAllocator<>::kDeferred && !RuleAllocator<false>::kDeferred);

namespace {

TokenInfo token(std::uint32_t position) {
  TokenInfo info;
  info.position = position;
  return info;
}

}  // namespace

TEST_CASE("first tokens get the most bits, tokens without features the fewest") {
  const RuleAllocator<> rule;
  for (std::uint32_t p = 0; p < 4; ++p) CHECK(rule.choose(token(p)) == 3);
  CHECK(rule.choose(token(4)) == 0);
  CHECK(rule.choose(token(100000)) == 0);
}

TEST_CASE("every feature lifts a token by one level, three at most") {
  const RuleAllocator<> rule;
  TokenInfo info = token(50);
  info.importance = 0.01f;
  CHECK(rule.choose(info) == 1);
  info.entropy = 2.0f;
  CHECK(rule.choose(info) == 2);
  info.confidence = 0.1f;  // undecided counts once
  CHECK(rule.choose(info) == 2);
  info.rarity = 9.5f;
  CHECK(rule.choose(info) == 3);
  info = token(50);
  info.confidence = 0.2f;
  CHECK(rule.choose(info) == 1);
  info.confidence = 0.21f;
  CHECK(rule.choose(info) == 0);
  info = token(50);
  info.rarity = 20.0f;
  CHECK(rule.choose(info) == 1);
}

TEST_CASE("base, thresholds and lanes are the caller's") {
  RuleAllocator<> rule;
  rule.base = 2;
  rule.first_tokens = 0;
  rule.important = 0.5f;
  rule.lanes[2] = 7;
  rule.lanes[3] = 9;
  TokenInfo info = token(0);
  CHECK(rule.choose(info) == 7);
  info.importance = 0.4f;
  CHECK(rule.choose(info) == 7);
  info.importance = 0.5f;
  CHECK(rule.choose(info) == 9);
  info.rarity = 20.0f;
  CHECK(rule.choose(info) == 9);
}
