// The text of an Oaken profile: written to and read from memory; files are the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/split/threshold.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Where the keys were taken that a profile was made of; rotation changes their distribution.
enum class KeyStage : std::uint8_t { kPreRope, kPostRope };

constexpr const char* to_string(KeyStage stage) noexcept {
  return stage == KeyStage::kPreRope ? "pre_rope" : "post_rope";
}

// What a profile was made for and of. The bands are kept apart: [layers, 2], keys then values.
struct ProfileHeader {
  static constexpr std::size_t kMostText = 95;

  char model[kMostText + 1] = {};    // identity of the weights
  char adapter[kMostText + 1] = {};  // adapters loaded on top of them; empty: none
  KeyStage key_stage = KeyStage::kPostRope;
  BandShares shares{};
  std::uint32_t samples = 0;
  std::uint32_t layers = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
};

// Copies a text of at most kMostText bytes. False: it does not fit, and nothing has changed.
inline bool set_text(char (&to)[ProfileHeader::kMostText + 1], std::string_view from) noexcept {
  if (from.size() > ProfileHeader::kMostText) return false;
  for (std::size_t i = 0; i <= ProfileHeader::kMostText; ++i)
    to[i] = i < from.size() ? from[i] : '\0';
  return true;
}

// Whether a profile suits what is loaded now; thresholds hold for one model with one set of
// adapters, so load in this order: weights, adapters, profile, cache. kNeedsReprofile "model" or
// "adapter". A cache asks the same of LaneProfile.
inline Error check_profile(const ProfileHeader& profile, std::string_view model,
                           std::string_view adapter) noexcept {
  if (model != std::string_view(profile.model)) return {Status::kNeedsReprofile, "model"};
  if (adapter != std::string_view(profile.adapter)) return {Status::kNeedsReprofile, "adapter"};
  return {};
}

// Version 1. Lines of "name: value", each ended by one newline, in this order, every one present:
//   oaken_profile: 1
//   fields: (a fixed line that says what the numbers are)
//   model, adapter: text without control characters, at most 95 bytes
//   key_stage: pre_rope or post_rope
//   outer_ppm, inner_ppm: the shares asked for, together at most 1000000
//   samples, layers, kv_heads: 1 to 65536; head_dim: 1 to 576
//   for every layer, keys then values (layerN.key, layerN.value):
//     .thresholds   4 binary16, 4 hexadecimal digits each: outer low, inner low, inner high, outer
//                   high
//     .occupancy    elements measured, outer, inner
//     .range        3 binary32 as 8 hexadecimal digits: lowest, highest, mean magnitude
//   checksum: 16 hexadecimal digits, FNV-1a of every byte before this line
// Numbers are decimal without leading zeros, hexadecimal digits are lower case: one profile has one
// text. Every change of one byte is found: by the field it damages, or by the checksum.
namespace profile_text {

inline constexpr std::string_view kFields =
    "thresholds = binary16 bits of outer low, inner low, inner high, outer high; occupancy = "
    "elements, outer, inner; range = binary32 bits of lowest, highest, mean magnitude";
inline constexpr std::uint32_t kMostCount = 65536;
inline constexpr std::uint32_t kMostChannels = 576;

// Writes what fits and counts the rest.
class Writer {
 public:
  Writer(char* out, std::size_t capacity) noexcept : out_(out), capacity_(capacity) {}

  Writer& text(std::string_view text) noexcept {
    for (const char c : text) put(c);
    return *this;
  }
  Writer& number(std::uint64_t value) noexcept {
    char digits[20] = {};
    std::size_t n = 0;
    do digits[n++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0) put(digits[--n]);
    return *this;
  }
  Writer& hex(std::uint64_t value, int digits) noexcept {
    for (int d = digits; d-- > 0;) put("0123456789abcdef"[(value >> (4 * d)) & 15u]);
    return *this;
  }
  void checksum() noexcept {
    const std::uint64_t hash = hash_;
    text("checksum: ").hex(hash, 16).text("\n");
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void put(char c) noexcept {
    hash_ = (hash_ ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
    if (size_ < capacity_) out_[size_] = c;
    ++size_;
  }
  char* out_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint64_t hash_ = fingerprint("");
};

// Reads line after line; the first thing that is wrong is kept, with its field.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_(text), rest_(text) {}

  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] bool ok() const noexcept { return error_.status == Status::kOk; }
  void fail(Status status, std::string_view field) noexcept {
    if (ok()) error_ = {status, field};
  }

  // The value of the line "field: value"; empty after an error.
  std::string_view line(std::string_view field) noexcept {
    if (!ok()) return {};
    const std::size_t end = rest_.find('\n');
    const std::string_view all = rest_.substr(0, end);
    const bool named = all.size() >= field.size() + 2 && all.substr(0, field.size()) == field &&
                       all.substr(field.size(), 2) == ": ";
    if (end == std::string_view::npos || !named) {
      fail(Status::kInvalid, field);
      return {};
    }
    rest_.remove_prefix(end + 1);
    return all.substr(field.size() + 2);
  }
  // A decimal number in [low, high] that ends the value or is followed by one space.
  std::uint64_t number(std::string_view& value, std::string_view field, std::uint64_t low,
                       std::uint64_t high) noexcept {
    std::uint64_t result = 0;
    std::size_t n = 0;
    for (; n < value.size() && value[n] >= '0' && value[n] <= '9'; ++n) {
      const auto digit = static_cast<std::uint64_t>(value[n] - '0');
      if (result > (~std::uint64_t{0} - digit) / 10) break;
      result = result * 10 + digit;
    }
    const bool canonical = n == 1 || (n > 1 && value[0] != '0');
    if (!canonical || !skip(value, n)) fail(Status::kInvalid, field);
    if (result < low || result > high) fail(Status::kRange, field);
    return result;
  }
  std::uint32_t hex(std::string_view& value, std::string_view field, std::size_t digits) noexcept {
    std::uint64_t result = 0;
    std::size_t n = 0;
    for (; n < value.size() && n < digits; ++n) {
      const char c = value[n];
      const bool decimal = c >= '0' && c <= '9';
      if (!decimal && !(c >= 'a' && c <= 'f')) break;
      result = result << 4 | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    }
    if (n != digits || !skip(value, n)) fail(Status::kInvalid, field);
    return static_cast<std::uint32_t>(result);
  }
  std::uint32_t count(std::string_view field, std::uint32_t low, std::uint32_t high) noexcept {
    std::string_view value = line(field);
    const auto result = static_cast<std::uint32_t>(number(value, field, low, high));
    done(value, field);
    return result;
  }
  void text(std::string_view field, char (&to)[ProfileHeader::kMostText + 1]) noexcept {
    const std::string_view value = line(field);
    for (const char c : value) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte < 32 || byte == 127) fail(Status::kInvalid, field);
    }
    if (!set_text(to, value)) fail(Status::kRange, field);
  }
  // Nothing may follow the last number of a value.
  void done(std::string_view value, std::string_view field) noexcept {
    if (!value.empty()) fail(Status::kInvalid, field);
  }
  void checksum() noexcept {
    const std::uint64_t wanted = fingerprint(text_.substr(0, text_.size() - rest_.size()));
    std::string_view value = line("checksum");
    if (!ok()) return;
    char digits[16] = {};
    Writer(digits, sizeof digits).hex(wanted, 16);
    if (value != std::string_view(digits, sizeof digits)) fail(Status::kMismatch, "checksum");
    if (!rest_.empty()) fail(Status::kInvalid, "end");
  }

 private:
  // Passes n characters and one space between numbers (not at the end of a line).
  static bool skip(std::string_view& value, std::size_t n) noexcept {
    value.remove_prefix(n);
    if (value.empty()) return true;
    if (value[0] != ' ' || value.size() == 1) return false;
    value.remove_prefix(1);
    return true;
  }

  std::string_view text_;
  std::string_view rest_;
  Error error_{};
};

// One side of one layer: what its three lines say must make sense.
inline void read_bands(Reader& reader, std::uint32_t layer, Role side,
                       BandProfile& bands) noexcept {
  const BandName thresholds(layer, side, "thresholds");
  std::string_view value = reader.line(thresholds.view());
  float found[4];
  for (int i = 0; i < 4; ++i) {
    bands.thresholds[i].bits = static_cast<std::uint16_t>(reader.hex(value, thresholds.view(), 4));
    found[i] = to_float(bands.thresholds[i]);
  }
  reader.done(value, thresholds.view());
  if (!ThresholdSplit::valid(found)) reader.fail(Status::kRange, thresholds.view());

  const BandName occupancy(layer, side, "occupancy");
  value = reader.line(occupancy.view());
  bands.values = reader.number(value, occupancy.view(), 0, ~std::uint64_t{0});
  bands.outer = reader.number(value, occupancy.view(), 0, bands.values);
  bands.inner = reader.number(value, occupancy.view(), 0, bands.values - bands.outer);
  reader.done(value, occupancy.view());

  const BandName range(layer, side, "range");
  value = reader.line(range.view());
  for (float* part : {&bands.lowest, &bands.highest, &bands.mean_magnitude}) {
    *part = __builtin_bit_cast(float, reader.hex(value, range.view(), 8));
    if (!is_finite(*part)) reader.fail(Status::kRange, range.view());
  }
  reader.done(value, range.view());
  if (bands.lowest > bands.highest || bands.mean_magnitude < 0.0f)
    reader.fail(Status::kRange, range.view());
}
// The whole text. bands null: checked, not kept.
inline Error read(std::string_view text, ProfileHeader& header, BandProfile* bands) noexcept {
  Reader reader(text);
  if (const std::string_view version = reader.line("oaken_profile"); version != "1")
    reader.fail(Status::kUnsupported, "oaken_profile");
  if (reader.line("fields") != kFields) reader.fail(Status::kInvalid, "fields");
  reader.text("model", header.model);
  reader.text("adapter", header.adapter);
  const std::string_view stage = reader.line("key_stage");
  header.key_stage = stage == "pre_rope" ? KeyStage::kPreRope : KeyStage::kPostRope;
  if (stage != to_string(header.key_stage)) reader.fail(Status::kInvalid, "key_stage");
  header.shares.outer_ppm = reader.count("outer_ppm", 0, 1000000);
  header.shares.inner_ppm = reader.count("inner_ppm", 0, 1000000);
  if (header.shares.outer_ppm + header.shares.inner_ppm > 1000000u)
    reader.fail(Status::kRange, "inner_ppm");
  header.samples = reader.count("samples", 1, kMostCount);
  header.layers = reader.count("layers", 1, kMostCount);
  header.kv_heads = reader.count("kv_heads", 1, kMostCount);
  header.head_dim = reader.count("head_dim", 1, kMostChannels);
  for (std::uint32_t l = 0; reader.ok() && l < header.layers; ++l) {
    for (const Role side : {Role::kKey, Role::kValue}) {
      BandProfile dropped;
      read_bands(reader, l, side, bands == nullptr ? dropped : bands[side_index(l, side)]);
    }
  }
  reader.checksum();
  return reader.error();
}

}  // namespace profile_text

// Checks a text and tells what it is a profile of, so that a caller can make room for [layers, 2]
// bands. Any malformed, cut or changed text is an error that names the field; nothing changes then.
inline Error read_profile_header(std::string_view text, ProfileHeader& header) noexcept {
  ProfileHeader found;
  const Error error = profile_text::read(text, found, nullptr);
  if (error.status == Status::kOk) header = found;
  return error;
}
// The same with the bands. kCapacity "layers": more than band_count / 2 of them.
inline Error read_profile(std::string_view text, ProfileHeader& header, BandProfile* bands,
                          std::size_t band_count) noexcept {
  ProfileHeader found;
  if (const Error error = profile_text::read(text, found, nullptr); error.status != Status::kOk)
    return error;
  if (static_cast<std::size_t>(found.layers) * 2 > band_count || bands == nullptr)
    return {Status::kCapacity, "layers"};
  header = found;
  return profile_text::read(text, found, bands);
}

// The text of a profile into out[capacity]; size gets its length, also when it does not fit
// (kCapacity "text": then call again with that much room). A profile that could not be read back is
// refused, with the field. No terminator is written.
inline Error write_profile(const ProfileHeader& header, const BandProfile* bands, char* out,
                           std::size_t capacity, std::size_t& size) noexcept {
  using profile_text::Writer;
  if (bands == nullptr) return {Status::kInvalid, "bands"};
  Writer writer(out, out == nullptr ? 0 : capacity);
  const auto line = [&](std::string_view name) -> Writer& { return writer.text(name).text(": "); };
  line("oaken_profile").text("1\n");
  line("fields").text(profile_text::kFields).text("\n");
  line("model").text(header.model).text("\n");
  line("adapter").text(header.adapter).text("\n");
  line("key_stage").text(to_string(header.key_stage)).text("\n");
  line("outer_ppm").number(header.shares.outer_ppm).text("\n");
  line("inner_ppm").number(header.shares.inner_ppm).text("\n");
  line("samples").number(header.samples).text("\n");
  line("layers").number(header.layers).text("\n");
  line("kv_heads").number(header.kv_heads).text("\n");
  line("head_dim").number(header.head_dim).text("\n");
  for (std::uint32_t l = 0; l < header.layers; ++l) {
    for (const Role side : {Role::kKey, Role::kValue}) {
      const BandProfile& band = bands[side_index(l, side)];
      line(BandName(l, side, "thresholds").view());
      for (int i = 0; i < 4; ++i) writer.text(i == 0 ? "" : " ").hex(band.thresholds[i].bits, 4);
      writer.text("\n");
      line(BandName(l, side, "occupancy").view()).number(band.values);
      writer.text(" ").number(band.outer).text(" ").number(band.inner).text("\n");
      line(BandName(l, side, "range").view());
      writer.hex(__builtin_bit_cast(std::uint32_t, band.lowest), 8).text(" ");
      writer.hex(__builtin_bit_cast(std::uint32_t, band.highest), 8).text(" ");
      writer.hex(__builtin_bit_cast(std::uint32_t, band.mean_magnitude), 8).text("\n");
    }
  }
  writer.checksum();
  size = writer.size();
  if (size > capacity || out == nullptr) return {Status::kCapacity, "text"};
  ProfileHeader found;
  return profile_text::read({out, size}, found, nullptr);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
