// The programs on Google Benchmark. Variants register themselves before main
// (bench::add_codec, bench::add_cache: subject_of.h); these are their mains.
#pragma once

namespace bench {

// score, accumulate, append, read of every variant. Names:
// part/variant/dDIM/qQUERIES/nCONTEXT/{hot,cold}
//   hot:  one head of so many tokens, again and again; the label says which cache holds it
//   cold: heads of so many tokens, 16 times the L3 in all or 1 GiB
int run_codec_bench(int argc, char** argv);
// attend of every variant, names as above, and attend_batch:
// batch/variant/dDIM/qQUERIES/bSEQUENCES/{equal,ragged}
int run_attend_bench(int argc, char** argv);

}  // namespace bench
