// OC-92: the headers under the device compiler, and KVPLEAT_HD functions inside a kernel.
#include <kvpleat/kvpleat.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

// What a format owner may call on the device today: half conversions, the numeric law, quantizers,
// tiles, splitters and the Hadamard transform. One value each, so that every function is compiled
// for the device.
using Quant = kvpleat::AffineQuant<4>;
using Symmetric =
    kvpleat::SymmetricQuant<3, kvpleat::kWholeHead, kvpleat::Axis::kChannels, kvpleat::BFloat16>;
using Tile = kvpleat::CodeTile<16, 64, Quant::kBits, kvpleat::Role::kKey>;

constexpr std::uint32_t kValues = 16;
constexpr std::uint32_t kResults = kValues + 8;

KVPLEAT_HD void code_and_decode(const float* x, std::uint8_t* tile, float* results) {
  float rotated[kValues];
  for (std::uint32_t c = 0; c < kValues; ++c) rotated[c] = x[c];
  kvpleat::hadamard_in_place(rotated, kValues);

  const Quant quant;
  Quant::Stat stat;
  for (std::uint32_t c = 0; c < kValues; ++c) quant.observe(rotated[c], stat);
  const Quant::Scale scale = quant.scale(Quant::merge(stat, Quant::Stat{}));
  for (std::uint32_t c = 0; c < kValues; ++c)
    Tile::put(tile, 5, c, quant.encode(rotated[c], scale));
  for (std::uint32_t c = 0; c < kValues; ++c)
    results[c] = quant.decode(Tile::get(tile, 5, c), scale);

  const Symmetric symmetric;
  Symmetric::Stat largest;
  symmetric.observe(x[0], largest);
  symmetric.observe(x[1], largest);
  const Symmetric::Scale step = symmetric.scale(Symmetric::merge(largest, largest));
  results[kValues] = symmetric.decode(symmetric.encode(x[1], step), step);

  kvpleat::ThresholdSplit split;
  split.outer_high = 0.5f;
  results[kValues + 1] = split.band(x[2]).band == kvpleat::Band::kOuter ? 1.0f : 0.0f;
  results[kValues + 2] = to_float(kvpleat::to_half(x[3]));
  results[kValues + 3] = to_float(kvpleat::to_bfloat16(x[4]));
  results[kValues + 4] = static_cast<float>(kvpleat::ordered_dot(x, rotated, kValues));
  results[kValues + 5] = kvpleat::is_finite(x[5]) ? kvpleat::magnitude(x[5]) : 0.0f;
  std::uint8_t bytes[2];
  kvpleat::store(bytes, kvpleat::at_most<kvpleat::Half>(x[6]));
  results[kValues + 6] = to_float(kvpleat::load<kvpleat::Half>(bytes));
  results[kValues + 7] = static_cast<float>(kvpleat::round_up(kvpleat::upper_of(3u, 5u), 4u));
}

__global__ void device(const float* x, std::uint8_t* tile, float* results) {
  code_and_decode(x, tile, results);
}

int main() {
  float x[kValues];
  for (std::uint32_t c = 0; c < kValues; ++c) x[c] = static_cast<float>(c * c % 23) / 7.0f - 1.0f;
  std::uint8_t tile[Tile::kBytes] = {};
  float expected[kResults] = {};
  code_and_decode(x, tile, expected);

  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no device here: compiled, not run");
    return 0;
  }
  float* input = nullptr;
  float* output = nullptr;
  std::uint8_t* bytes = nullptr;
  if (cudaMalloc(&input, sizeof x) != cudaSuccess ||
      cudaMalloc(&output, sizeof expected) != cudaSuccess ||
      cudaMalloc(&bytes, sizeof tile) != cudaSuccess) {
    return 1;
  }
  float results[kResults] = {};
  std::uint8_t device_tile[Tile::kBytes] = {};
  const bool copied = cudaMemset(bytes, 0, sizeof tile) == cudaSuccess &&
                      cudaMemcpy(input, x, sizeof x, cudaMemcpyHostToDevice) == cudaSuccess;
  device<<<1, 1>>>(input, bytes, output);
  if (!copied || cudaDeviceSynchronize() != cudaSuccess ||
      cudaMemcpy(results, output, sizeof results, cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(device_tile, bytes, sizeof tile, cudaMemcpyDeviceToHost) != cudaSuccess) {
    return 1;
  }
  const bool same = std::memcmp(tile, device_tile, sizeof tile) == 0 &&
                    std::memcmp(expected, results, sizeof results) == 0;
  std::puts(same ? "host and device agree to the bit" : "host and device differ");
  return same ? 0 : 1;
}
