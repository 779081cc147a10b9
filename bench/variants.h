// The variants of head_dim 128 that the report measures, in units that compile by themselves.
#pragma once

namespace bench {

void add_plain_variants();
void add_rotated_variants();
void add_oaken_variants();

}  // namespace bench
