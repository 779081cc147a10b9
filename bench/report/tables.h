// The tables of checks, and those that need more than two pieces of work.
#pragma once

#include "bench/report/check.h"
#include "bench/report/row.h"

namespace report {

// What compares two pieces of work, or one with a limit.
void run_tables(Report& report, Subjects& subjects);
// Bytes and errors: nothing is timed.
void run_sizes(Report& report, Subjects& subjects);
// Two threads against one.
void run_threads(Report& report, Subjects& subjects);
// Where the time of one attend goes; streaming against decoding everything first; how blocks lie.
void run_streaming(Report& report, Subjects& subjects);
// Many sequences through attend_batch.
void run_batch(Report& report);
// Targets and dispatch.
void run_targets(Report& report, Subjects& subjects);

}  // namespace report
