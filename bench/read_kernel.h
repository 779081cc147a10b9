// Reading memory and doing nothing else: the bound that kernels are measured against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

// Reads every full 256 bytes of a range once, in order. Returns a digest, so that nothing is left
// out.
std::uint64_t read_plain(const std::uint8_t* bytes, std::size_t n);
// The same with a prefetch 2 KiB ahead.
std::uint64_t read_prefetched(const std::uint8_t* bytes, std::size_t n);

}  // namespace bench
