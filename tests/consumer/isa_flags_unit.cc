// Compiled once per set of -m flags, with UNIT as the name of its one function.
#include "caches.h"

void UNIT(consumer::Answer& answer);
void UNIT(const kvpleat::abi::BlockRun& run);

void UNIT(consumer::Answer& answer) {
  consumer::RunOf<consumer::Mixed>::answer(answer);
}
// The plain structs of the table of kernels are the same type in every unit.
void UNIT(const kvpleat::abi::BlockRun&) {}
