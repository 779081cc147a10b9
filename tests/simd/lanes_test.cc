// Every operation of Lanes against scalar code, on every target.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/lanes_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/lanes-inl.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "support/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct LanesTest {
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;
  using B8 = L::B8;
  using M32 = L::M32;
  static constexpr std::uint32_t kLanes = L::kLanes;
  static constexpr std::uint32_t kBytes = L::kBytes;

  TargetReport& report;
  std::uint64_t state = 12345;

  std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
  }
  float next_float() { return (static_cast<float>(next() % 20001) - 10000.0f) * 0.013f; }

  struct Floats {
    float at[kLanes];
  };
  struct Integers {
    std::int32_t at[kLanes];
  };
  struct Bytes {
    std::uint8_t at[kBytes];
  };
  Floats floats() {
    Floats v;
    for (float& x : v.at) x = next_float();
    return v;
  }
  Integers integers() {
    Integers v;
    for (std::int32_t& x : v.at) x = static_cast<std::int32_t>(next());
    return v;
  }
  Bytes bytes(std::uint32_t mask) {
    Bytes v;
    for (std::uint8_t& x : v.at) x = static_cast<std::uint8_t>(next() & mask);
    return v;
  }
  static F32 load(const Floats& v) { return L::load_f32(v.at); }
  static I32 load(const Integers& v) { return L::load_i32(v.at); }
  static B8 load(const Bytes& v) { return L::load_b8(v.at); }
  static std::int32_t wrap(std::int64_t x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
  }
  static std::int32_t as_signed(std::uint8_t x) { return static_cast<std::int8_t>(x); }
  static std::uint8_t byte(std::uint32_t x) { return static_cast<std::uint8_t>(x); }

  template <class Expected>
  void same(const char* what, F32 found, Expected expected) {
    Floats v;
    L::store_f32(v.at, found);
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      const float wanted = expected(i);
      report.check(std::memcmp(&v.at[i], &wanted, sizeof wanted) == 0,
                   what + (" lane " + std::to_string(i)) + ": " + std::to_string(v.at[i]) +
                       ", not " + std::to_string(wanted));
    }
  }
  template <class Expected>
  void same(const char* what, I32 found, Expected expected) {
    Integers v;
    L::store_i32(v.at, found);
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      const std::int32_t wanted = expected(i);
      report.check(v.at[i] == wanted, what + (" lane " + std::to_string(i)) + ": " +
                                          std::to_string(v.at[i]) + ", not " +
                                          std::to_string(wanted));
    }
  }
  template <class Expected>
  void same(const char* what, B8 found, Expected expected) {
    Bytes v;
    L::store_b8(v.at, found);
    for (std::uint32_t i = 0; i < kBytes; ++i) {
      const std::uint8_t wanted = expected(i);
      report.check(v.at[i] == wanted, what + (" byte " + std::to_string(i)) + ": " +
                                          std::to_string(v.at[i]) + ", not " +
                                          std::to_string(wanted));
    }
  }
  template <class Expected>
  void same(const char* what, M32 found, Expected expected) {
    same(what, L::select(found, L::set_i32(1), L::set_i32(0)),
         [&](std::uint32_t i) { return expected(i) ? 1 : 0; });
  }

  void test_floats() {
    const Floats a = floats();
    Floats b = floats();
    const Floats c = floats();
    b.at[1] = a.at[1];
    same("load_f32", load(a), [&](std::uint32_t i) { return a.at[i]; });
    same("zero_f32", L::zero_f32(), [&](std::uint32_t) { return 0.0f; });
    same("set_f32", L::set_f32(1.5f), [&](std::uint32_t) { return 1.5f; });
    same("add", L::add(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] + b.at[i]; });
    same("sub", L::sub(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] - b.at[i]; });
    same("mul", L::mul(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] * b.at[i]; });
    same("div", L::div(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] / b.at[i]; });
    same("lower", L::lower(load(a), load(b)),
         [&](std::uint32_t i) { return std::fmin(a.at[i], b.at[i]); });
    same("upper", L::upper(load(a), load(b)),
         [&](std::uint32_t i) { return std::fmax(a.at[i], b.at[i]); });
    same("abs", L::abs(load(a)), [&](std::uint32_t i) { return std::fabs(a.at[i]); });
    // Products of small whole numbers are exact: rounded once or twice, the sum is the same.
    Floats whole[3];
    for (Floats& v : whole) {
      for (float& x : v.at) x = static_cast<float>(static_cast<std::int32_t>(next() % 2001) - 1000);
    }
    same("mul_add", L::mul_add(load(whole[0]), load(whole[1]), load(whole[2])),
         [&](std::uint32_t i) { return whole[0].at[i] * whole[1].at[i] + whole[2].at[i]; });
    same("neg_mul_add", L::neg_mul_add(load(whole[0]), load(whole[1]), load(whole[2])),
         [&](std::uint32_t i) { return whole[2].at[i] - whole[0].at[i] * whole[1].at[i]; });
    same("less", L::less(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] < b.at[i]; });
    same("equal", L::equal(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] == b.at[i]; });
    const M32 less = L::less(load(a), load(b));
    const M32 above = L::less(load(c), load(a));
    same("both", L::both(less, above),
         [&](std::uint32_t i) { return a.at[i] < b.at[i] && c.at[i] < a.at[i]; });
    same("either", L::either(less, above),
         [&](std::uint32_t i) { return a.at[i] < b.at[i] || c.at[i] < a.at[i]; });
    same("negate", L::negate(less), [&](std::uint32_t i) { return !(a.at[i] < b.at[i]); });
    same("select", L::select(less, load(c), load(a)),
         [&](std::uint32_t i) { return a.at[i] < b.at[i] ? c.at[i] : a.at[i]; });
    // What is not selected may be NaN.
    same("select from NaN", L::select(L::first(1), load(a), L::set_f32(NAN)),
         [&](std::uint32_t i) { return i < 1 ? a.at[i] : NAN; });
    float highest = a.at[0];
    float lowest = a.at[0];
    for (const float x : a.at) {
      highest = std::fmax(highest, x);
      lowest = std::fmin(lowest, x);
    }
    report.check(L::reduce_max(load(a)) == highest, "reduce_max");
    report.check(L::reduce_min(load(a)) == lowest, "reduce_min");
  }

  void test_edges() {
    const Floats a = floats();
    for (std::uint32_t n = 0; n <= kLanes + 1; ++n) {
      same("first", L::first(n), [&](std::uint32_t i) { return i < n; });
      report.check(L::any(L::first(n)) == (n > 0), "any");
      report.check(L::all(L::first(n)) == (n >= kLanes), "all");
      same("load_first_f32", L::load_first_f32(a.at, n),
           [&](std::uint32_t i) { return i < n ? a.at[i] : 0.0f; });
      float stored[kLanes];
      for (float& x : stored) x = -7.0f;
      L::store_first_f32(stored, load(a), n);
      for (std::uint32_t i = 0; i < kLanes; ++i)
        report.check(stored[i] == (i < n ? a.at[i] : -7.0f), "store_first_f32");
    }
    // Sixteen lanes add up in one order, whatever the registers.
    float sixteen[16];
    for (float& x : sixteen) x = next_float() * 1.0e3f + 1.0e-3f;
    F32 parts[L::kParts];
    for (std::uint32_t p = 0; p < L::kParts; ++p) parts[p] = L::load_f32(sixteen + p * kLanes);
    float tree[16];
    std::memcpy(tree, sixteen, sizeof tree);
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      for (std::uint32_t i = 0; i < width; ++i) tree[i] += tree[i + width];
    }
    report.check(L::sum16(parts) == tree[0], "sum16");

    F32 four[4][L::kParts];
    F32 values[4];
    float sums[4];
    float largest[4];
    float found[4];
    for (std::uint32_t i = 0; i < 4; ++i) {
      for (std::uint32_t p = 0; p < L::kParts; ++p) four[i][p] = load(floats());
      values[i] = load(floats());
      sums[i] = L::sum16(four[i]);
      largest[i] = L::reduce_max(values[i]);
    }
    L::sum16_of4(four, found);
    report.check(std::memcmp(found, sums, sizeof sums) == 0, "sum16_of4");
    L::reduce_max_of4(values, found);
    report.check(std::memcmp(found, largest, sizeof largest) == 0, "reduce_max_of4");
  }

  void test_conversions() {
    // Every binary16 and bfloat16 but infinities and NaN, which no format stores.
    for (std::uint32_t base = 0; base < 0x10000; base += kLanes) {
      std::uint8_t stored[2 * kLanes];
      std::uint8_t halves[2 * kLanes];
      for (std::uint32_t i = 0; i < kLanes; ++i) {
        const std::uint32_t word = base + i;
        const std::uint32_t finite = (word & 0x7c00u) == 0x7c00u ? 0u : word;
        stored[2 * i] = byte(word & 255u);
        stored[2 * i + 1] = byte(word >> 8);
        halves[2 * i] = byte(finite & 255u);
        halves[2 * i + 1] = byte(finite >> 8);
      }
      const auto half = [&](std::uint32_t i) {
        return to_float(kvpleat::load<Half>(halves + 2 * i));
      };
      const auto bf16 = [&](std::uint32_t i) {
        return std::bit_cast<std::int32_t>(to_float(kvpleat::load<BFloat16>(stored + 2 * i)));
      };
      same("load_half", L::load_half(halves), half);
      same("load_side half", L::load_side(abi::Side::kHalf, halves), half);
      same("load_bf16", L::bits_i32(L::load_bf16(stored)), bf16);
      same("load_side bfloat16", L::bits_i32(L::load_side(abi::Side::kBFloat16, stored)), bf16);
      same("load_u16", L::load_u16(stored), [&](std::uint32_t i) { return wrap(base + i); });
    }
    std::uint8_t codes[256];
    for (std::uint32_t i = 0; i < 256; ++i) codes[i] = byte(i);
    for (std::uint32_t base = 0; base < 256; base += kLanes) {
      same("load_side log", L::load_side(abi::Side::kLogScale8, codes + base),
           [&](std::uint32_t i) { return log_scale::kValues[base + i]; });
      same("load_u8", L::load_u8(codes + base), [&](std::uint32_t i) { return wrap(base + i); });
      same("load_s8", L::load_s8(codes + base),
           [&](std::uint32_t i) { return as_signed(codes[base + i]); });
    }
    const Floats a = floats();
    std::uint8_t raw[sizeof a.at];
    std::memcpy(raw, a.at, sizeof raw);
    same("load_side float", L::load_side(abi::Side::kFloat, raw),
         [&](std::uint32_t i) { return a.at[i]; });

    Floats edges;
    constexpr float kEdges[] = {0.5f,  1.5f,     -0.5f,      -1.5f,      2.5f,           -2.5f,
                                3.49f, 16777.5f, 4194303.5f, 8388609.0f, -1073741824.0f, 0.0f};
    for (std::uint32_t base = 0; base < std::size(kEdges); ++base) {
      for (std::uint32_t i = 0; i < kLanes; ++i)
        edges.at[i] = kEdges[(base + i) % std::size(kEdges)];
      same("nearest_i32", L::nearest_i32(load(edges)),
           [&](std::uint32_t i) { return static_cast<std::int32_t>(std::nearbyint(edges.at[i])); });
    }
    const Integers n = integers();
    same("to_f32", L::to_f32(load(n)),
         [&](std::uint32_t i) { return static_cast<float>(n.at[i]); });
    same("bits_f32", L::bits_i32(L::bits_f32(load(n))), [&](std::uint32_t i) { return n.at[i]; });
    same("bits_i32", L::bits_i32(load(a)),
         [&](std::uint32_t i) { return std::bit_cast<std::int32_t>(a.at[i]); });

    constexpr std::int32_t kClamped[] = {0, 1, -1, 127, 128, -128, -129, 255, 256, 70000, -70000};
    Integers m;
    for (std::uint32_t i = 0; i < kLanes; ++i) m.at[i] = kClamped[i % std::size(kClamped)];
    std::uint8_t out[kLanes + 1];
    out[kLanes] = 0x5a;
    L::store_s8(out, load(m));
    for (std::uint32_t i = 0; i < kLanes; ++i)
      report.check(as_signed(out[i]) == std::min(std::max(m.at[i], -128), 127), "store_s8");
    std::uint8_t bytes[4 * kLanes];
    Integers more[4];
    I32 four[4];
    for (std::uint32_t i = 0; i < 4 * kLanes; ++i)
      more[i / kLanes].at[i % kLanes] = static_cast<std::int32_t>(i * 517 % 600) - 300;
    for (std::uint32_t i = 0; i < 4; ++i) four[i] = load(more[i]);
    L::store_s8_of4(bytes, four);
    for (std::uint32_t i = 0; i < 4 * kLanes; ++i) {
      report.check(
          as_signed(bytes[i]) == std::min(std::max(more[i / kLanes].at[i % kLanes], -128), 127),
          "store_s8_of4");
    }
    L::store_u8(out, load(m));
    for (std::uint32_t i = 0; i < kLanes; ++i)
      report.check(out[i] == std::min(std::max(m.at[i], 0), 255), "store_u8");
    report.check(out[kLanes] == 0x5a, "store_u8 writes kLanes bytes");
  }

  void test_integers() {
    const Integers a = integers();
    const Integers b = integers();
    same("zero_i32", L::zero_i32(), [&](std::uint32_t) { return 0; });
    same("set_i32", L::set_i32(-7), [&](std::uint32_t) { return -7; });
    same("add", L::add(load(a), load(b)),
         [&](std::uint32_t i) { return wrap(std::int64_t{a.at[i]} + b.at[i]); });
    same("sub", L::sub(load(a), load(b)),
         [&](std::uint32_t i) { return wrap(std::int64_t{a.at[i]} - b.at[i]); });
    same("and", L::and_(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] & b.at[i]; });
    same("or", L::or_(load(a), load(b)), [&](std::uint32_t i) { return a.at[i] | b.at[i]; });
    same("shift_left", L::shift_left<5>(load(a)),
         [&](std::uint32_t i) { return wrap(std::int64_t{a.at[i]} * 32); });
    same("shift_right", L::shift_right<3>(load(a)), [&](std::uint32_t i) { return a.at[i] >> 3; });
    same("select", L::select(L::first(2), load(a), load(b)),
         [&](std::uint32_t i) { return i < 2 ? a.at[i] : b.at[i]; });
    std::int64_t sum = 0;
    std::int32_t highest = a.at[0];
    for (const std::int32_t x : a.at) {
      sum += x;
      highest = std::max(highest, x);
    }
    report.check(L::reduce_add(load(a)) == wrap(sum), "reduce_add");
    report.check(L::reduce_max(load(a)) == highest, "reduce_max i32");
    same("as_i32", L::as_i32(L::as_b8(load(a))), [&](std::uint32_t i) { return a.at[i]; });
    Bytes raw;
    std::memcpy(raw.at, a.at, sizeof raw.at);
    same("as_b8", L::as_b8(load(a)), [&](std::uint32_t i) { return raw.at[i]; });
  }

  template <int kBits>
  void test_shifts(const Bytes& a) {
    same("shift_right", L::shift_right<kBits>(load(a)),
         [&](std::uint32_t i) { return byte(std::uint32_t{a.at[i]} >> kBits); });
    same("shift_left", L::shift_left<kBits>(load(a)),
         [&](std::uint32_t i) { return byte(std::uint32_t{a.at[i]} << kBits); });
    const std::uint8_t mask = byte(0xffu >> kBits) & 0x0f;
    same("field_up", L::field_up<kBits>(load(a), L::set_byte(byte(0x5au << kBits))),
         [&](std::uint32_t i) {
           return byte((std::uint32_t{a.at[i]} << kBits) & (0x5au << kBits));
         });
    same("field", L::field<kBits>(load(a), L::set_byte(mask)),
         [&](std::uint32_t i) { return byte((std::uint32_t{a.at[i]} >> kBits) & mask); });
  }

  void test_bytes() {
    const Bytes a = bytes(255);
    const Bytes b = bytes(255);
    same("load_b8", load(a), [&](std::uint32_t i) { return a.at[i]; });
    same("set_byte", L::set_byte(200), [&](std::uint32_t) { return byte(200); });
    same("bcast4", L::bcast4(a.at + 1), [&](std::uint32_t i) { return a.at[1 + i % 4]; });
    std::uint8_t table[128];
    for (std::uint32_t i = 0; i < 128; ++i) table[i] = byte(next());
    same("bcast16", L::bcast16(table), [&](std::uint32_t i) { return table[i % 16]; });
    same("and", L::and_(load(a), load(b)),
         [&](std::uint32_t i) { return byte(a.at[i] & b.at[i]); });
    same("or", L::or_(load(a), load(b)), [&](std::uint32_t i) { return byte(a.at[i] | b.at[i]); });
    same("xor", L::xor_(load(a), load(b)),
         [&](std::uint32_t i) { return byte(a.at[i] ^ b.at[i]); });
    same("add", L::add(load(a), load(b)),
         [&](std::uint32_t i) { return byte(std::uint32_t{a.at[i]} + b.at[i]); });
    same("sub", L::sub(load(a), load(b)),
         [&](std::uint32_t i) { return byte(std::uint32_t{a.at[i]} - b.at[i]); });
    same("lower", L::lower(load(a), load(b)),
         [&](std::uint32_t i) { return std::min(a.at[i], b.at[i]); });
    same("upper", L::upper(load(a), load(b)),
         [&](std::uint32_t i) { return std::max(a.at[i], b.at[i]); });
    Bytes m;
    for (std::uint8_t& x : m.at) x = next() % 2 == 0 ? 0xff : 0;
    same("select_bytes", L::select_bytes(load(m), load(a), load(b)),
         [&](std::uint32_t i) { return m.at[i] != 0 ? a.at[i] : b.at[i]; });
    const Bytes few = bytes(127);
    const Bytes others = bytes(127);
    same("above", L::above(load(few), load(others)),
         [&](std::uint32_t i) { return byte(few.at[i] > others.at[i] ? 0xffu : 0u); });
    same("above itself", L::above(load(few), load(few)), [](std::uint32_t) { return byte(0); });
    same("select_high", L::select_high(load(m), load(a), load(b)),
         [&](std::uint32_t i) { return m.at[i] != 0 ? a.at[i] : b.at[i]; });
    same("select_high by any", L::select_high(load(a), load(b), load(m)),
         [&](std::uint32_t i) { return a.at[i] >= 128 ? b.at[i] : m.at[i]; });
    test_shifts<1>(a);
    test_shifts<2>(a);
    test_shifts<4>(a);
    test_shifts<6>(a);
    test_shifts<7>(a);
    same("field 0", L::field<0>(load(a), L::set_byte(0x0f)),
         [&](std::uint32_t i) { return byte(a.at[i] & 0x0fu); });

    const Bytes nibbles = bytes(15);
    same("lookup16", L::lookup16(L::bcast16(table), load(nibbles)),
         [&](std::uint32_t i) { return table[nibbles.at[i]]; });
    Bytes some = nibbles;
    for (std::uint32_t i = 0; i < kBytes; ++i) some.at[i] = byte(some.at[i] | (m.at[i] & 0x80u));
    same("lookup16_or0", L::lookup16_or0(L::bcast16(table), load(some)),
         [&](std::uint32_t i) { return byte(m.at[i] != 0 ? 0u : table[nibbles.at[i]]); });
    std::uint32_t places[4];
    for (std::uint32_t& place : places) place = next() % 113;
    same("load_quarters", L::load_quarters(table, places),
         [&](std::uint32_t i) { return table[places[i / 16] + i % 16]; });
    for (std::uint32_t base = 0; base < 256; base += kBytes) {
      Bytes every;
      for (std::uint32_t i = 0; i < kBytes; ++i) every.at[i] = byte(base + i);
      same("lookup64", L::lookup64(L::load_table64(table), load(every)),
           [&](std::uint32_t i) { return table[(base + i) & 63u]; });
      same("lookup128", L::lookup128(L::load_table128(table), load(every)),
           [&](std::uint32_t i) { return table[(base + i) & 127u]; });
    }
  }

  // Random bytes, and the ends of the ranges: sums of pairs beyond 16 bits.
  void test_dots() {
    for (std::uint32_t round = 0; round < 6; ++round) {
      const bool ends = round >= 2;
      const Integers acc = integers();
      Bytes small = bytes(127);
      Bytes whole = bytes(255);
      Bytes s = bytes(255);
      if (ends) {
        for (std::uint32_t i = 0; i < kBytes; ++i) {
          small.at[i] = 127;
          whole.at[i] = 255;
          s.at[i] = round % 2 == 0 ? 0x80 : 0x7f;
          if (round >= 4 && i % 2 == 0) s.at[i] = byte(s.at[i] ^ 0xffu);
        }
      }
      const auto dot = [&](const Bytes& u, const std::uint8_t* four) {
        return [&acc, &u, &s, four](std::uint32_t i) {
          std::int64_t sum = acc.at[i];
          for (std::uint32_t k = 0; k < 4; ++k) {
            sum += std::int32_t{u.at[4 * i + k]} *
                   as_signed(four == nullptr ? s.at[4 * i + k] : four[k]);
          }
          return wrap(sum);
        };
      };
      // An odd address: four signed bytes lie anywhere.
      const std::uint8_t* four = s.at + 3;
      same("dot_u7s8", L::dot_u7s8(load(acc), load(small), load(s)), dot(small, nullptr));
      same("dot_u8s8", L::dot_u8s8(load(acc), load(whole), load(s)), dot(whole, nullptr));
      same("dot_u7s8_at", L::dot_u7s8_at(load(acc), load(small), four), dot(small, four));
      const Bytes nibbles = bytes(15);
      same("dot_u8u4", L::dot_u8u4(load(acc), load(whole), load(nibbles)), [&](std::uint32_t i) {
        std::int64_t sum = acc.at[i];
        for (std::uint32_t k = 4 * i; k < 4 * i + 4; ++k)
          sum += std::int32_t{whole.at[k]} * std::int32_t{nibbles.at[k]};
        return wrap(sum);
      });
      Bytes a = bytes(255);
      Bytes b = s;
      for (std::uint32_t i = 0; i < kBytes; ++i) {
        if (ends) a.at[i] = round % 2 == 0 ? 0x81 : 0x7f;
        for (Bytes* x : {&a, &b}) x->at[i] = x->at[i] == 0x80 ? byte(0x81) : x->at[i];
      }
      same("dot_s8s8", L::dot_s8s8(load(acc), load(a), load(b)), [&](std::uint32_t i) {
        std::int64_t sum = acc.at[i];
        for (std::uint32_t k = 4 * i; k < 4 * i + 4; ++k)
          sum += as_signed(a.at[k]) * as_signed(b.at[k]);
        return wrap(sum);
      });
      same("dot_u8s8_at", L::dot_u8s8_at(load(acc), load(whole), four), dot(whole, four));
      if (L::kWholeBytes)
        same("dot_u7s8 whole", L::dot_u7s8(load(acc), load(whole), load(s)), dot(whole, nullptr));
    }
  }

  void run() {
    for (std::uint32_t round = 0; round < 20; ++round) {
      test_floats();
      test_edges();
      test_integers();
      test_bytes();
      test_dots();
    }
    test_conversions();
  }
};

void test_lanes(TargetReport& report, const char** name) {
  *name = Lanes::kName;
  LanesTest{report}.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(test_lanes);

TEST_CASE("lanes: every operation is what scalar code computes, on every target") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    TargetReport report;
    const char* name = "";
    HWY_DYNAMIC_DISPATCH(test_lanes)(report, &name);
    MESSAGE(std::string(target) << " (" << std::string(name) << "): " << report.checks
                                << " checks");
    CHECK_MESSAGE(report.failures.empty(), report.text());
    CHECK(report.checks > 100000);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
