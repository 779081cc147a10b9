// What encoders write to and decoders read from. A format owns three kinds of bytes of a block: the
// block itself (per head, fixed size), shared bytes (common to all heads of the layer) and spill
// (variable, in token order).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat {

// Plain pointers, the same in every translation unit: part of the untagged interface of kernels.
namespace abi {

struct BlockBytes {
  const std::uint8_t* block = nullptr;
  const std::uint8_t* shared = nullptr;  // null if the format has none
  const std::uint8_t* spill = nullptr;   // of the whole block, from its first token
  std::uint32_t spill_bytes = 0;
};

// Slots [slot, slot + count) of one block.
struct BlockRun {
  BlockBytes bytes;
  std::uint32_t slot = 0;
  std::uint32_t count = 0;
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
