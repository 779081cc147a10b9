// Compiled once per set of -m flags, with UNIT as the name of its one function. DISPATCHED: attention by
// the table of kernels, which is compiled once for all units.
#include "caches.h"
#if defined(DISPATCHED)
#include <kvpleat/dispatch.h>
#endif

void UNIT(consumer::Answer& answer);
void UNIT(const kvpleat::abi::BlockRun& run);

void UNIT(consumer::Answer& answer) {
#if defined(DISPATCHED)
  consumer::RunOf<consumer::Mixed>::answer<kvpleat::DispatchedKernels>(answer);
#else
  consumer::RunOf<consumer::Mixed>::answer(answer);
#endif
  // What std makes from our types must be tagged as well.
  float values[64];
  float thresholds[4];
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(i * 37 % 64);
  static_cast<void>(kvpleat::band_thresholds(values, 64, {}, thresholds));
}
// The plain structs of the table of kernels are the same type in every unit.
void UNIT(const kvpleat::abi::BlockRun&) {}
