#include "kvpleat/calibrate/profile_file.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace kvpleat;

namespace {

struct Profile {
  ProfileHeader header;
  std::vector<BandProfile> bands;
};

Profile example() {
  Profile p;
  REQUIRE(set_text(p.header.model, "SmolLM2-135M"));
  REQUIRE(set_text(p.header.adapter, "lora: caf\xc3\xa9"));
  p.header.samples = 100;
  p.header.layers = 2;
  p.header.kv_heads = 3;
  p.header.head_dim = 64;
  for (std::uint16_t i = 0; i < 4; ++i) {
    BandProfile band;
    band.thresholds[0] = to_half(-2.0f - i);
    band.thresholds[1] = to_half(-0.25f);
    band.thresholds[2] = to_half(0.125f);
    band.thresholds[3] = to_half(3.0f + i);
    band.values = 98304;
    band.outer = 3932u + i;
    band.inner = 5898;
    band.lowest = -21.5f;
    band.highest = 19.0f;
    band.mean_magnitude = 0.75f;
    p.bands.push_back(band);
  }
  return p;
}
std::string text_of(const Profile& p) {
  std::size_t size = 0;
  CHECK(write_profile(p.header, p.bands.data(), nullptr, 0, size).name() == "text");
  std::string text(size, '?');
  REQUIRE(ok(write_profile(p.header, p.bands.data(), text.data(), text.size(), size).status));
  REQUIRE(size == text.size());
  return text;
}
// The error of a text; what was given must not change on it.
Error error_of(const std::string& text) {
  ProfileHeader header;
  header.samples = 12345;
  std::vector<BandProfile> bands(4);
  for (BandProfile& band : bands) band.values = 777;
  const std::vector<BandProfile> before = bands;
  const Error error = read_profile(text, header, bands.data(), bands.size());
  if (!ok(error.status)) {
    CHECK(header.samples == 12345);
    CHECK(bands == before);
    CHECK(read_profile_header(text, header).name() == error.name());
    CHECK(header.samples == 12345);
    CHECK(!error.name().empty());
  }
  return error;
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what is written is read back, to the bit") {
  const Profile p = example();
  const std::string text = text_of(p);
  ProfileHeader header;
  REQUIRE(ok(read_profile_header(text, header).status));
  CHECK(std::string(header.model) == "SmolLM2-135M");
  CHECK(std::string(header.adapter) == p.header.adapter);
  CHECK(header.layers == 2);
  std::vector<BandProfile> bands(4);
  ProfileHeader again;
  REQUIRE(ok(read_profile(text, again, bands.data(), bands.size()).status));
  CHECK(bands == p.bands);
  CHECK(again.key_stage == KeyStage::kPostRope);
  CHECK(again.shares.outer_ppm == 40000);
  CHECK(again.shares.inner_ppm == 60000);
  CHECK(again.samples == 100);
  CHECK(again.kv_heads == 3);
  CHECK(again.head_dim == 64);
  std::vector<float> spread(2 * 3 * 4);
  spread_thresholds(bands.data(), 2, 3, Role::kValue, spread.data());
  CHECK(spread[4] == -3.0f);  // layer 0, head 1
  CHECK(spread[15] == 6.0f);  // layer 1, head 0
  CHECK(spread[22] == 0.125f);
}

TEST_CASE("golden text") {
  Profile p = example();
  p.header.layers = 1;
  p.header.adapter[0] = '\0';
  p.header.key_stage = KeyStage::kPreRope;
  const std::string text = text_of(p);
  // The checksum is FNV-1a, 64 bits, of all before its line; computed with Python.
  CHECK(text ==
        "oaken_profile: 1\n"
        "fields: thresholds = binary16 bits of outer low, inner low, inner high, outer high; "
        "occupancy = elements, outer, inner; range = binary32 bits of lowest, highest, mean "
        "magnitude\n"
        "model: SmolLM2-135M\n"
        "adapter: \n"
        "key_stage: pre_rope\n"
        "outer_ppm: 40000\n"
        "inner_ppm: 60000\n"
        "samples: 100\n"
        "layers: 1\n"
        "kv_heads: 3\n"
        "head_dim: 64\n"
        "layer0.key.thresholds: c000 b400 3000 4200\n"
        "layer0.key.occupancy: 98304 3932 5898\n"
        "layer0.key.range: c1ac0000 41980000 3f400000\n"
        "layer0.value.thresholds: c200 b400 3000 4400\n"
        "layer0.value.occupancy: 98304 3933 5898\n"
        "layer0.value.range: c1ac0000 41980000 3f400000\n"
        "checksum: 4e4e9f9c4468521e\n");
}

TEST_CASE("every flipped bit and every cut is found, with a field") {
  const std::string text = text_of(example());
  std::set<std::string> fields;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const Error error = error_of(damaged);
      CAPTURE(i);
      CAPTURE(bit);
      CHECK(!ok(error.status));
      fields.insert(std::string(error.name()));
    }
  }
  for (std::size_t n = 0; n < text.size(); ++n) CHECK(!ok(error_of(text.substr(0, n)).status));
  CHECK(error_of(text + "\n").name() == "end");
  // Each line is told apart from the others.
  for (const char* name :
       {"oaken_profile", "fields", "model", "adapter", "key_stage", "outer_ppm", "inner_ppm",
        "samples", "layers", "kv_heads", "head_dim", "layer0.key.thresholds",
        "layer0.key.occupancy", "layer0.key.range", "layer1.value.thresholds",
        "layer1.value.occupancy", "layer1.value.range", "checksum"}) {
    CAPTURE(name);
    CHECK(fields.count(name) == 1);
  }
}

TEST_CASE("what a text may not say, even with a checksum that fits") {
  const std::string text = text_of(example());
  struct Case {
    const char* from;
    const char* to;
    Status status;
    const char* field;
  };
  const std::string long_text(96, 'x');
  const Case cases[] = {
      {"oaken_profile: 1", "oaken_profile: 2", Status::kUnsupported, "oaken_profile"},
      {"oaken_profile: 1", "other_profile: 1", Status::kInvalid, "oaken_profile"},
      {"SmolLM2-135M", long_text.c_str(), Status::kRange, "model"},
      {"SmolLM2-135M", "a\tb", Status::kInvalid, "model"},
      {"post_rope", "after_rope", Status::kInvalid, "key_stage"},
      {"outer_ppm: 40000", "outer_ppm: 1000001", Status::kRange, "outer_ppm"},
      {"inner_ppm: 60000", "inner_ppm: 960001", Status::kRange, "inner_ppm"},
      {"samples: 100", "samples: 0", Status::kRange, "samples"},
      {"samples: 100", "samples: 0100", Status::kInvalid, "samples"},
      {"samples: 100", "samples: -1", Status::kInvalid, "samples"},
      {"samples: 100", "samples: 99999999999999999999", Status::kInvalid, "samples"},
      {"samples: 100", "samples: 100 ", Status::kInvalid, "samples"},
      {"samples: 100", "samples: ", Status::kInvalid, "samples"},
      {"layers: 2", "layers: 3", Status::kInvalid, "layer2.key.thresholds"},
      {"layers: 2", "layers: 1", Status::kInvalid, "checksum"},
      {"layers: 2", "layers: 4294967296", Status::kRange, "layers"},
      {"head_dim: 64", "head_dim: 577", Status::kRange, "head_dim"},
      {"kv_heads: 3\n", "", Status::kInvalid, "kv_heads"},
      // Not ordered; infinite; beyond half of the range of a half; NaN.
      {"c000 b400", "b400 c000", Status::kRange, "layer0.key.thresholds"},
      {"c000 b400", "fc00 b400", Status::kRange, "layer0.key.thresholds"},
      {"c000 b400", "f800 b400", Status::kRange, "layer0.key.thresholds"},
      {"c000 b400", "fe00 b400", Status::kRange, "layer0.key.thresholds"},
      {"c000 b400", "C000 b400", Status::kInvalid, "layer0.key.thresholds"},
      {"c000 b400", "c000b400", Status::kInvalid, "layer0.key.thresholds"},
      {"c000 b400 3000 4200", "c000 b400 3000", Status::kInvalid, "layer0.key.thresholds"},
      {"c000 b400 3000 4200", "c000 b400 3000 4200 0000", Status::kInvalid,
       "layer0.key.thresholds"},
      {"98304 3932 5898", "98304 98305 0", Status::kRange, "layer0.key.occupancy"},
      {"98304 3932 5898", "98304 3932 94373", Status::kRange, "layer0.key.occupancy"},
      {"c1ac0000 41980000", "7fc00000 41980000", Status::kRange, "layer0.key.range"},
      {"c1ac0000 41980000", "41980000 c1ac0000", Status::kRange, "layer0.key.range"},
      {"41980000 3f400000", "41980000 bf400000", Status::kRange, "layer0.key.range"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.to);
    std::string changed = replaced(text, c.from, c.to);
    const std::size_t end = changed.find("checksum: ");
    char digits[16];
    profile_text::Writer(digits, 16).hex(fingerprint(changed.substr(0, end)), 16);
    changed.replace(end + 10, 16, digits, 16);
    const Error error = error_of(changed);
    CHECK(error.status == c.status);
    CHECK(error.name() == c.field);
  }
  const Error checksum = error_of(replaced(text, "98304 3932 5898", "98304 3931 5898"));
  CHECK(checksum.status == Status::kMismatch);
  CHECK(checksum.name() == "checksum");
}

TEST_CASE("too little room, and profiles that cannot be written") {
  const Profile p = example();
  const std::string text = text_of(p);
  ProfileHeader header;
  std::vector<BandProfile> bands(4);
  const Error error = read_profile(text, header, bands.data(), 3);
  CHECK(error.status == Status::kCapacity);
  CHECK(error.name() == "layers");
  CHECK(header.layers == 0);
  std::vector<char> out(text.size() + 1, 'z');
  std::size_t size = 0;
  CHECK(write_profile(p.header, p.bands.data(), out.data(), text.size() - 1, size).status ==
        Status::kCapacity);
  CHECK(size == text.size());
  CHECK(out[text.size() - 1] == 'z');
  Profile bad = example();
  bad.bands[3].thresholds[0] = to_half(9.0f);
  out.resize(2 * text.size());
  CHECK(write_profile(bad.header, bad.bands.data(), out.data(), out.size(), size).name() ==
        "layer1.value.thresholds");
  bad = example();
  REQUIRE(set_text(bad.header.model, "two\nlines"));
  CHECK(write_profile(bad.header, bad.bands.data(), out.data(), out.size(), size).name() ==
        "adapter");  // the first line ends the model; the second is not the next field
  bad = example();
  bad.header.samples = 0;
  CHECK(write_profile(bad.header, bad.bands.data(), out.data(), out.size(), size).name() ==
        "samples");
  CHECK(write_profile(p.header, nullptr, out.data(), out.size(), size).name() == "bands");
  CHECK(!set_text(bad.header.model, std::string(96, 'x')));
}

TEST_CASE("a profile of another model or adapter set needs to be made again") {
  const Profile p = example();
  CHECK(ok(check_profile(p.header, "SmolLM2-135M", p.header.adapter).status));
  const Error model = check_profile(p.header, "SmolLM2-360M", p.header.adapter);
  CHECK(model.status == Status::kNeedsReprofile);
  CHECK(model.name() == "model");
  const Error adapter = check_profile(p.header, "SmolLM2-135M", "");
  CHECK(adapter.status == Status::kNeedsReprofile);
  CHECK(adapter.name() == "adapter");
}
