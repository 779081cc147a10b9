// What encoders write to and decoders read from. A format owns three kinds of bytes of a block: the
// block itself (per head, fixed size), shared bytes (common to all heads of the layer) and spill
// (variable, in token order).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat {

// Plain structs, the same in every translation unit: part of the untagged interface of kernels. No
// member has a default, so that no constructor exists that two units could compile differently:
// write BlockRun{}.
namespace abi {

struct BlockBytes {
  const std::uint8_t* block;
  const std::uint8_t* shared;  // null if the format has none
  const std::uint8_t* spill;   // of the whole block, from its first token
  std::uint32_t spill_bytes;
};

// Slots [slot, slot + count) of one block.
struct BlockRun {
  BlockBytes bytes;
  std::uint32_t slot;
  std::uint32_t count;
};

}  // namespace abi

inline namespace KVPLEAT_ISA {

using abi::BlockBytes;
using abi::BlockRun;

// Appends to a spill buffer whose room was reserved beforehand.
struct SpillWriter {
  std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;

  void push(std::uint8_t byte) {
    KVPLEAT_ASSERT(size < capacity);
    data[size++] = byte;
  }
};

}  // namespace KVPLEAT_ISA
}  // namespace kvpleat
