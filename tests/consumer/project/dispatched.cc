// Kernels chosen at run time. Needs no Highway to compile.
#include <kvpleat/dispatch.h>
#include <kvpleat/kvpleat.h>

#include <cstdio>
#include <cstring>

int main() {
  using Kernels = kvpleat::DispatchedKernels;
  auto made = kvpleat::KvCache<kvpleat::presets::Int4<64>>::create(
      {.layers = 1, .kv_heads = 1, .max_tokens = 16});
  if (!made) return 1;
  float row[64] = {};
  row[0] = 15.0f;
  if (!ok(made->append(0, {row, 1, 1, 64}, {row, 1, 1, 64}))) return 1;
  for (std::uint32_t i = 0; i < Kernels::target_count(); ++i) {
    if (!Kernels::target_runs(i)) continue;
    if (!ok(Kernels::use_target(Kernels::target_name(i)).status)) return 1;
    float out[64];
    kvpleat::AttendReport report;
    if (!ok(attend<Kernels>(*made, 0, 0, {.queries = row, .report = &report, .strict = true}, out)))
      return 1;
    std::printf("%s: %g\n", report.target, static_cast<double>(out[0]));
    // One token of weight 1: 7-bit weights hold that within half a step of 1 / 127.
    if (!(out[0] > 14.9f && out[0] < 15.1f)) return 1;
    if (std::strcmp(report.target, Kernels::target_name(i)) != 0) return 1;
  }
}
