// Written by make_oaken_goldens.py: do not edit.
#pragma once

#include <cstdint>

namespace golden {

// clang-format off
inline constexpr float kC1Thresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC1Input[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.3125f, -0.28125f, 2.5f, 6.25f, -3.0f, -2.625f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC1Dense[] = {
    0xf0, 0x59, 0x68, 0xf0, 0x02, 0x80, 0x1f, 0x4b,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC1Spill[] = {
    0x1a, 0x1e, 0x23, 0x27, 0x28, 0x2d, 0x30, 0x3d,
};
// clang-format on

inline constexpr std::uint32_t kC1SpillBytes = 8;

// clang-format off
inline constexpr std::uint8_t kC1Counts[] = {
    0x08,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC1Parameters[] = {
    0x00, 0x38, 0x40, 0x44, 0x00, 0xbb, 0x00, 0x3c, 0x00, 0x00, 0x80, 0x33,
};
// clang-format on

// clang-format off
inline constexpr float kC1Decoded[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.375f, -0.375f, 2.5f, 6.25f, -3.0f, -2.5f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr float kC2Thresholds[] = {
    -4.0f, -0.25f, 0.25f, 4.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC2Input[] = {
    4.0f, -4.0f, 0.25f, -0.25f, 4.00390625f, 0.015625f, -2.5f, -1.0f, 0.5f, 2.0f, 3.5f, -2.75f,
    -1.25f, 1.0f, 1.75f, 3.25f, -3.0f, -1.5f, 1.0f, 1.5f, 3.0f, -3.25f, -1.75f, 1.0f, 1.25f, 2.75f,
    -3.5f, -2.0f, -0.5f, 1.0f, 2.5f, -3.75f, -2.25f, -0.75f, 0.75f, 2.25f, 3.75f, -2.5f, -1.0f,
    0.5f, 2.0f, 3.5f, -2.75f, -1.25f, 1.0f, 1.75f, 3.25f, -3.0f, -1.5f, 1.0f, 1.5f, 3.0f, -3.25f,
    -1.75f, 1.0f, 1.25f, 2.75f, -3.5f, -2.0f, -0.5f, 1.0f, 2.5f, -3.75f, -2.25f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC2Dense[] = {
    0x0f, 0xff, 0x00, 0x63, 0xb8, 0x2e, 0x96, 0xea, 0x52, 0xa9, 0x2d, 0x94, 0xca, 0x41, 0x97, 0x0c,
    0x64, 0xc8, 0x3e, 0x86, 0xeb, 0x62, 0xa9, 0x2e, 0x95, 0xda, 0x42, 0xa9, 0x1c, 0x74, 0xc9, 0x40,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC2Spill[] = {
    0x08, 0x0d, 0x12, 0x14,
};
// clang-format on

inline constexpr std::uint32_t kC2SpillBytes = 4;

// clang-format off
inline constexpr std::uint8_t kC2Counts[] = {
    0x04,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC2Parameters[] = {
    0x00, 0x1c, 0x00, 0x1c, 0x80, 0xc3, 0x80, 0x43, 0x00, 0x24, 0x00, 0x34,
};
// clang-format on

// clang-format off
inline constexpr float kC2Decoded[] = {
    4.0f, -4.0f, 0.25f, -0.25f, 4.00390625f, 0.015625f, -2.5f, -1.0f, 0.5f, 2.0f, 3.5f, -3.0f,
    -1.0f, 1.0f, 1.5f, 3.5f, -3.0f, -1.5f, 1.0f, 1.5f, 3.0f, -3.0f, -2.0f, 1.0f, 1.5f, 2.5f, -3.5f,
    -2.0f, -0.5f, 1.0f, 2.5f, -4.0f, -2.0f, -1.0f, 0.5f, 2.5f, 3.5f, -2.5f, -1.0f, 0.5f, 2.0f, 3.5f,
    -3.0f, -1.0f, 1.0f, 1.5f, 3.5f, -3.0f, -1.5f, 1.0f, 1.5f, 3.0f, -3.0f, -2.0f, 1.0f, 1.5f, 2.5f,
    -3.5f, -2.0f, -0.5f, 1.0f, 2.5f, -4.0f, -2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC3Thresholds[] = {
    -1.5f, 0.5f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC3Input[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.75f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f,
    1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f,
    2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC3Dense[] = {
    0xef, 0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0,
    0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd,
    0xa0, 0x89, 0x66, 0x48, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab,
    0x89, 0x66, 0xf0, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab, 0xf9,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC3Spill[] = {
    0x03, 0x18, 0x90, 0x94, 0xff,
};
// clang-format on

inline constexpr std::uint32_t kC3SpillBytes = 5;

// clang-format off
inline constexpr std::uint8_t kC3Counts[] = {
    0x00, 0x05,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC3Parameters[] = {
    0x00, 0x3c, 0x00, 0x3e, 0x00, 0xbf, 0x00, 0x40, 0x00, 0x38, 0x00, 0x3c,
};
// clang-format on

// clang-format off
inline constexpr float kC3Decoded[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.7666666507720947f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f,
    2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f,
    2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC4Thresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC4Input[] = {
    -5.0f, 6.75f, 2.0625f, -2.0625f, -0.125f, 0.1171875f, 0.0f, 0.05000000074505806f, 1.0f, -1.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC4Dense[] = {
    0xf0, 0xbc, 0xf0, 0x60, 0x0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC4Spill[] = {
    0x02, 0x07, 0x0a, 0x0e, 0x10, 0x15, 0x19, 0x1d,
};
// clang-format on

inline constexpr std::uint32_t kC4SpillBytes = 8;

// clang-format off
inline constexpr std::uint8_t kC4Counts[] = {
    0x08,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC4Parameters[] = {
    0x00, 0xc2, 0xc0, 0x44, 0x00, 0xba, 0x00, 0x3a, 0x00, 0xb0, 0x80, 0x2f,
};
// clang-format on

// clang-format off
inline constexpr float kC4Decoded[] = {
    -5.0f, 6.75f, 2.0f, -2.25f, -0.125f, 0.1171875f, 0.0f, 0.046875f, 1.0f, -1.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC5aThresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC5aInput[] = {
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5aDense[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5aSpill[] = {
    0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0x2c, 0x30, 0x34, 0x38, 0x3c,
    0x40, 0x44, 0x48, 0x4c, 0x50, 0x54, 0x58, 0x5c, 0x60, 0x64, 0x68, 0x6c, 0x70, 0x74, 0x78, 0x7c,
    0x80, 0x84, 0x88, 0x8c, 0x90, 0x94, 0x98, 0x9c, 0xa0, 0xa4, 0xa8, 0xac, 0xb0, 0xb4, 0xb8, 0xbc,
    0xc0, 0xc4, 0xc8, 0xcc, 0xd0, 0xd4, 0xd8, 0xdc, 0xe0, 0xe4, 0xe8, 0xec, 0xf0, 0xf4, 0xf8, 0xfc,
};
// clang-format on

inline constexpr std::uint32_t kC5aSpillBytes = 64;

// clang-format off
inline constexpr std::uint8_t kC5aCounts[] = {
    0x40,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5aParameters[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
// clang-format on

// clang-format off
inline constexpr float kC5aDecoded[] = {
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC5bThresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kC5bInput[] = {
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5bDense[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5bSpill[] = {
    0x00,
};
// clang-format on

inline constexpr std::uint32_t kC5bSpillBytes = 0;

// clang-format off
inline constexpr std::uint8_t kC5bCounts[] = {
    0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kC5bParameters[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x00, 0x3a, 0x00, 0x00, 0x00, 0x00,
};
// clang-format on

// clang-format off
inline constexpr float kC5bDecoded[] = {
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
    1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftThresholds[] = {
    0.1875f, 0.25f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftDense[] = {
    0x67, 0xf9, 0x7a, 0x04, 0x1f, 0x29, 0x00, 0x00, 0x00, 0xc0, 0xfa, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftSpill[] = {
    0x02, 0x07, 0x0a, 0x0f, 0x16, 0x1b, 0x1c, 0x20, 0x27, 0x2f, 0x33, 0x3a, 0x3f, 0x42, 0x47, 0x4a,
    0x4e, 0x53, 0x5b,
};
// clang-format on

inline constexpr std::uint32_t kNoShiftSpillBytes = 19;

// clang-format off
inline constexpr std::uint8_t kNoShiftCounts[] = {
    0x13,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftParameters[] = {
    0x00, 0x00, 0xa0, 0x48, 0x00, 0x32, 0x00, 0x42, 0x00, 0x34, 0x00, 0x38,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftDecoded[] = {
    4.316666603088379f, -3.700000047683716f, 5.550000190734863f, -9.25f, 2.0625f,
    4.316666603088379f, -2.4666666984558105f, 0.25f, 0.5f, -0.6166666746139526f, 1.875f,
    -1.2333333492279053f, -0.0f, 0.1875f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, 7.400000095367432f,
    -6.1666669845581055f, 3.0f, -0.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftOffsetThresholds[] = {
    0.1875f, 0.25f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftOffsetInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftOffsetDense[] = {
    0xaa, 0x0c, 0x9a, 0x0c, 0x1f, 0xf9, 0x01, 0x12, 0x12, 0xf1, 0xf6, 0x01,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftOffsetSpill[] = {
    0x03, 0x06, 0x0b, 0x0e, 0x17, 0x1a, 0x1c, 0x21, 0x27, 0x2e, 0x33, 0x3b, 0x3f, 0x43, 0x47, 0x4b,
    0x4f, 0x52, 0x5b,
};
// clang-format on

inline constexpr std::uint32_t kNoShiftOffsetSpillBytes = 19;

// clang-format off
inline constexpr std::uint8_t kNoShiftOffsetCounts[] = {
    0x13,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoShiftOffsetParameters[] = {
    0xa0, 0xc8, 0x30, 0x47, 0x00, 0x32, 0x00, 0x42, 0x00, 0x34, 0x00, 0x38,
};
// clang-format on

// clang-format off
inline constexpr float kNoShiftOffsetDecoded[] = {
    4.536289215087891f, -3.9475808143615723f, 5.596773147583008f, -9.25f, 2.0625f,
    4.006047248840332f, -2.8870973587036133f, 0.25f, 0.5f, -0.2358875274658203f, 1.875f,
    -1.2963714599609375f, -0.2358875274658203f, 0.1875f, 0.2943544387817383f, -0.2358875274658203f,
    0.2943544387817383f, -0.2358875274658203f, -0.2358875274658203f, 7.1875f, -6.068548679351807f,
    3.0f, -0.2358875274658203f,
};
// clang-format on

// clang-format off
inline constexpr float kOuterOnlyThresholds[] = {
    0.1875f, 0.25f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kOuterOnlyInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterOnlyDense[] = {
    0x72, 0xf4, 0x2a, 0x05, 0x1f, 0x39, 0x01, 0x00, 0x00, 0x70, 0xfa, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterOnlySpill[] = {
    0x02, 0x07, 0x0a, 0x0f, 0x16, 0x1b, 0x1c, 0x20, 0x27, 0x2f, 0x33, 0x3b, 0x3f, 0x43, 0x47, 0x4b,
    0x4e, 0x53, 0x5b,
};
// clang-format on

inline constexpr std::uint32_t kOuterOnlySpillBytes = 19;

// clang-format off
inline constexpr std::uint8_t kOuterOnlyCounts[] = {
    0x13,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterOnlyParameters[] = {
    0x00, 0x2c, 0xb8, 0x48, 0x00, 0x32, 0x00, 0x42, 0x00, 0x34, 0x00, 0x38,
};
// clang-format on

// clang-format off
inline constexpr float kOuterOnlyDecoded[] = {
    4.3125f, -4.25f, 5.5625f, -9.25f, 2.0625f, 4.3125f, -3.0f, 0.25f, 0.5f, -0.5f, 1.875f, -1.75f,
    -0.5f, 0.1875f, 0.125f, 0.125f, 0.125f, 0.125f, 0.125f, 7.4375f, -6.125f, 3.0f, 0.125f,
};
// clang-format on

// clang-format off
inline constexpr float kFourBitThresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kFourBitInput[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.3125f, -0.28125f, 2.5f, 6.25f, -3.0f, -2.625f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kFourBitDense[] = {
    0xf0, 0x59, 0x68, 0xf4, 0x10, 0x05, 0x1f, 0x3b,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kFourBitSpill[] = {
    0x19, 0x1d, 0x21, 0x25, 0x28, 0x2c, 0x30, 0x3c,
};
// clang-format on

inline constexpr std::uint32_t kFourBitSpillBytes = 8;

// clang-format off
inline constexpr std::uint8_t kFourBitCounts[] = {
    0x08,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kFourBitParameters[] = {
    0x00, 0xbc, 0x40, 0x44, 0x00, 0xbb, 0x00, 0x3c, 0x00, 0xb0, 0x80, 0x33,
};
// clang-format on

// clang-format off
inline constexpr float kFourBitDecoded[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.375f, -0.375f, 2.4000000953674316f, 6.25f, -3.0f,
    -2.6500000953674316f, -0.005208335816860199f, -0.125f, 0.234375f, -1.0f, 0.75f,
    -0.05312500149011612f,
};
// clang-format on

// clang-format off
inline constexpr float kEntry16Thresholds[] = {
    -2.0f, -0.25f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kEntry16Input[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.3125f, -0.28125f, 2.5f, 6.25f, -3.0f, -2.625f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kEntry16Dense[] = {
    0xf0, 0x59, 0x68, 0xf0, 0x02, 0x80, 0x1f, 0x4b,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kEntry16Spill[] = {
    0x02, 0x18, 0x02, 0x1c, 0x03, 0x20, 0x03, 0x24, 0x00, 0x28, 0x01, 0x2c, 0x00, 0x30, 0x01, 0x3c,
};
// clang-format on

inline constexpr std::uint32_t kEntry16SpillBytes = 16;

// clang-format off
inline constexpr std::uint8_t kEntry16Counts[] = {
    0x08,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kEntry16Parameters[] = {
    0x00, 0x38, 0x40, 0x44, 0x00, 0xbb, 0x00, 0x3c, 0x00, 0x00, 0x80, 0x33,
};
// clang-format on

// clang-format off
inline constexpr float kEntry16Decoded[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.375f, -0.375f, 2.5f, 6.25f, -3.0f, -2.5f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr float kByTokenThresholds[] = {
    -1.5f, 0.5f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kByTokenInput[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.75f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f,
    1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f,
    2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByTokenDense[] = {
    0xef, 0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0,
    0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd,
    0xa0, 0x89, 0x66, 0x48, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab,
    0x89, 0x66, 0xf0, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab, 0xf9,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByTokenSpill[] = {
    0x03, 0x18, 0x90, 0x94, 0xff, 0x00, 0x00, 0x00,
};
// clang-format on

inline constexpr std::uint32_t kByTokenSpillBytes = 8;

// clang-format off
inline constexpr std::uint8_t kByTokenCounts[] = {
    0x00, 0x05,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByTokenParameters[] = {
    0x00, 0x3c, 0x00, 0x3e, 0x00, 0xbf, 0x00, 0x40, 0x00, 0x38, 0x00, 0x3c,
};
// clang-format on

// clang-format off
inline constexpr float kByTokenDecoded[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.7666666507720947f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f,
    2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f,
    2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kByChunkThresholds[] = {
    -1.5f, 0.5f, 1.0f, 3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kByChunkInput[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.75f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f,
    1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f,
    2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByChunkDense[] = {
    0xef, 0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0,
    0xcd, 0xab, 0x89, 0x66, 0x45, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd,
    0xa0, 0x89, 0x66, 0x48, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab,
    0x89, 0x66, 0xf0, 0x23, 0x01, 0xde, 0xbc, 0x9a, 0x68, 0x56, 0x34, 0x12, 0xe0, 0xcd, 0xab, 0xf9,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByChunkSpill[] = {
    0x03, 0x18, 0x90, 0x94, 0xff, 0x00, 0x00, 0x00,
};
// clang-format on

inline constexpr std::uint32_t kByChunkSpillBytes = 8;

// clang-format off
inline constexpr std::uint8_t kByChunkCounts[] = {
    0x00, 0x05,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kByChunkParameters[] = {
    0x00, 0x3c, 0x00, 0x3e, 0x00, 0xbf, 0x00, 0x40, 0x00, 0x38, 0x00, 0x3c,
};
// clang-format on

// clang-format off
inline constexpr float kByChunkDecoded[] = {
    3.0f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f,
    -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f,
    -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f,
    -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f,
    -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, -2.5f, 1.75f, 1.5f, 1.25f, 0.25f,
    0.25f, 0.7666666507720947f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f, 2.25f, 2.0f,
    1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f, 2.5f,
    2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.5f, 1.0f, -0.5f, -0.75f, -1.0f, -1.25f, 2.75f,
    2.5f, 2.25f, 2.0f, 1.75f, 1.5f, 1.25f, 0.25f, 0.25f, 0.0f, -0.25f, -0.5f, -0.75f, -1.0f, -1.25f,
    2.75f, 2.5f, 2.25f, 2.0f, 1.75f, 1.5f, -3.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNestedThresholds[] = {
    -4.0f, -2.0f, -0.25f, -0.0625f, 0.125f, 0.25f, 2.0f, 4.5f,
};
// clang-format on

// clang-format off
inline constexpr float kNestedInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNestedDense[] = {
    0xbf, 0xf0, 0xdf, 0xf0, 0x68, 0x0e, 0x8f, 0x0f, 0x6b, 0x50, 0x23, 0x08,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNestedSpill[] = {
    0x04, 0x00, 0x05, 0x04, 0x06, 0x08, 0x07, 0x0c, 0x04, 0x14, 0x05, 0x18, 0x02, 0x1c, 0x03, 0x30,
    0x02, 0x34, 0x00, 0x38, 0x03, 0x3c, 0x00, 0x40, 0x01, 0x44, 0x00, 0x48, 0x06, 0x4c, 0x07, 0x50,
    0x04, 0x54, 0x01, 0x58,
};
// clang-format on

inline constexpr std::uint32_t kNestedSpillBytes = 36;

// clang-format off
inline constexpr std::uint8_t kNestedCounts[] = {
    0x12,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNestedParameters[] = {
    0x00, 0x3d, 0x40, 0x45, 0x00, 0x3a, 0x00, 0x41, 0x00, 0xbd, 0x00, 0x3f, 0x00, 0x30, 0x00, 0x34,
    0x00, 0x00, 0x00, 0x30,
};
// clang-format on

// clang-format off
inline constexpr float kNestedDecoded[] = {
    4.5f, -4.0333333015441895f, 5.75f, -9.25f, 2.0f, 4.266666412353516f, -2.75f, 0.25f,
    0.6000000238418579f, -0.2999999523162842f, 1.7999999523162842f, -1.5f, -0.25f,
    0.19166666269302368f, 0.125f, -0.125f, 0.09166666865348816f, -0.05000000447034836f, 0.0f,
    7.083333492279053f, -6.050000190734863f, 2.9833333492279053f, -0.06666667014360428f,
};
// clang-format on

// clang-format off
inline constexpr float kNested4Thresholds[] = {
    -4.0f, -2.0f, -0.25f, -0.0625f, 0.125f, 0.25f, 2.0f, 4.5f,
};
// clang-format on

// clang-format off
inline constexpr float kNested4Input[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNested4Dense[] = {
    0x0f, 0x0c, 0xef, 0xf4, 0x68, 0x0e, 0xd0, 0x4f, 0x1c, 0xf5, 0xa6, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNested4Spill[] = {
    0x02, 0x06, 0x0b, 0x0f, 0x16, 0x1a, 0x1d, 0x31, 0x35, 0x38, 0x3d, 0x40, 0x44, 0x48, 0x4f, 0x53,
    0x56, 0x58,
};
// clang-format on

inline constexpr std::uint32_t kNested4SpillBytes = 18;

// clang-format off
inline constexpr std::uint8_t kNested4Counts[] = {
    0x12,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNested4Parameters[] = {
    0x40, 0xc5, 0x60, 0x41, 0x00, 0xc0, 0x00, 0x41, 0x00, 0xbd, 0x00, 0x3f, 0x00, 0xb4, 0x00, 0x34,
    0x00, 0xac, 0x00, 0x30,
};
// clang-format on

// clang-format off
inline constexpr float kNested4Decoded[] = {
    4.5f, -4.0f, 5.59999942779541f, -9.25f, 2.0f, 4.200000286102295f, -2.799999952316284f, 0.25f,
    0.6000000238418579f, -0.2999999523162842f, 1.7999999523162842f, -1.5f, -0.25f,
    0.1833333671092987f, 0.125f, -0.11666665971279144f, 0.08750000596046448f, -0.05000000074505806f,
    0.0f, 7.187499523162842f, -6.075000286102295f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr float kOuterRingThresholds[] = {
    -4.0f, -2.0f, -0.25f, 0.25f, 2.0f, 4.5f,
};
// clang-format on

// clang-format off
inline constexpr float kOuterRingInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterRingDense[] = {
    0xbf, 0xf0, 0xdf, 0xf0, 0x68, 0x0e, 0xbf, 0x88, 0x36, 0x50, 0x23, 0x04,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterRingSpill[] = {
    0x02, 0x00, 0x03, 0x04, 0x04, 0x08, 0x05, 0x0c, 0x02, 0x14, 0x03, 0x18, 0x00, 0x1c, 0x01, 0x30,
    0x00, 0x34, 0x00, 0x38, 0x01, 0x3c, 0x00, 0x40, 0x01, 0x44, 0x00, 0x48, 0x04, 0x4c, 0x05, 0x50,
    0x02, 0x54, 0x01, 0x58,
};
// clang-format on

inline constexpr std::uint32_t kOuterRingSpillBytes = 36;

// clang-format off
inline constexpr std::uint8_t kOuterRingCounts[] = {
    0x12,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kOuterRingParameters[] = {
    0x00, 0x3d, 0x40, 0x45, 0x00, 0x3a, 0x00, 0x41, 0x00, 0xbd, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x34,
};
// clang-format on

// clang-format off
inline constexpr float kOuterRingDecoded[] = {
    4.5f, -4.0333333015441895f, 5.75f, -9.25f, 2.0f, 4.266666412353516f, -2.75f, 0.25f,
    0.6000000238418579f, -0.2999999523162842f, 1.7999999523162842f, -1.5f, -0.25f,
    0.18333333730697632f, 0.13333334028720856f, -0.13333334028720856f, 0.10000000894069672f,
    -0.05000000447034836f, 0.0f, 7.083333492279053f, -6.050000190734863f, 2.9833333492279053f,
    -0.06666667014360428f,
};
// clang-format on

// clang-format off
inline constexpr float kInnerRingThresholds[] = {
    -2.0f, -0.25f, -0.0625f, 0.125f, 0.25f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kInnerRingInput[] = {
    4.5f, -4.0f, 5.75f, -9.25f, 2.0f, 4.25f, -2.75f, 0.25f, 0.5f, -0.3125f, 1.875f, -1.5f, -0.25f,
    0.1875f, 0.125f, -0.125f, 0.09375f, -0.046875f, 0.0f, 7.1875f, -6.0f, 3.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kInnerRingDense[] = {
    0xd8, 0x0b, 0x8f, 0xf0, 0x68, 0x0e, 0xb0, 0x8f, 0x3a, 0xfa, 0x58, 0x00,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kInnerRingSpill[] = {
    0x05, 0x00, 0x04, 0x04, 0x05, 0x08, 0x04, 0x0c, 0x05, 0x14, 0x05, 0x18, 0x03, 0x1c, 0x02, 0x30,
    0x03, 0x34, 0x01, 0x38, 0x02, 0x3c, 0x01, 0x40, 0x00, 0x44, 0x00, 0x48, 0x05, 0x4c, 0x04, 0x50,
    0x05, 0x54, 0x00, 0x58,
};
// clang-format on

inline constexpr std::uint32_t kInnerRingSpillBytes = 36;

// clang-format off
inline constexpr std::uint8_t kInnerRingCounts[] = {
    0x12,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kInnerRingParameters[] = {
    0x40, 0xc7, 0x30, 0x45, 0x00, 0xbd, 0x00, 0x3f, 0x00, 0xb4, 0x00, 0x34, 0x00, 0xac, 0x00, 0x30,
};
// clang-format on

// clang-format off
inline constexpr float kInnerRingDecoded[] = {
    4.379032135009766f, -4.034274101257324f, 5.5826616287231445f, -9.25f, 2.0f, 4.379032135009766f,
    -2.8306450843811035f, 0.25f, 0.6000000238418579f, -0.2999999523162842f, 1.7999999523162842f,
    -1.5f, -0.25f, 0.1854838728904724f, 0.125f, -0.12096774578094482f, 0.0947580635547638f,
    -0.044354841113090515f, -0.0020161308348178864f, 7.1875f, -6.040322303771973f,
    3.175403594970703f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr float kNoOuterThresholds[] = {
    -0.25f, 0.25f,
};
// clang-format on

// clang-format off
inline constexpr float kNoOuterInput[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.3125f, -0.28125f, 2.5f, 6.25f, -3.0f, -2.625f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoOuterDense[] = {
    0x63, 0x45, 0x45, 0xf9, 0x10, 0x80, 0x3f, 0x46,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoOuterSpill[] = {
    0x28, 0x2d, 0x30, 0x3d,
};
// clang-format on

inline constexpr std::uint32_t kNoOuterSpillBytes = 4;

// clang-format off
inline constexpr std::uint8_t kNoOuterCounts[] = {
    0x04,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoOuterParameters[] = {
    0x80, 0xc1, 0x00, 0x46, 0x00, 0x00, 0x80, 0x33,
};
// clang-format on

// clang-format off
inline constexpr float kNoOuterDecoded[] = {
    -1.25f, 1.0f, 0.41666650772094727f, -0.6666667461395264f, 0.41666650772094727f,
    -0.6666667461395264f, 2.75f, 6.25f, -3.0f, -2.4166667461395264f, 0.0f, -0.125f, 0.234375f,
    -1.25f, 1.0f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr float kNoInnerThresholds[] = {
    -2.0f, 2.0f,
};
// clang-format on

// clang-format off
inline constexpr float kNoInnerInput[] = {
    -1.125f, 1.25f, 0.5f, -0.5f, 0.3125f, -0.28125f, 2.5f, 6.25f, -3.0f, -2.625f, 0.0f, -0.125f,
    0.234375f, -1.0f, 0.75f, -0.0625f,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoInnerDense[] = {
    0xf0, 0x4a, 0x59, 0xf0, 0x02, 0x67, 0x19, 0x7c,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoInnerSpill[] = {
    0x18, 0x1c, 0x21, 0x25,
};
// clang-format on

inline constexpr std::uint32_t kNoInnerSpillBytes = 4;

// clang-format off
inline constexpr std::uint8_t kNoInnerCounts[] = {
    0x04,
};
// clang-format on

// clang-format off
inline constexpr std::uint8_t kNoInnerParameters[] = {
    0x00, 0x38, 0x40, 0x44, 0x80, 0xbc, 0x00, 0x3d,
};
// clang-format on

// clang-format off
inline constexpr float kNoInnerDecoded[] = {
    -1.125f, 1.25f, 0.45833325386047363f, -0.49166667461395264f, 0.2999999523162842f,
    -0.3333333730697632f, 2.5f, 6.25f, -3.0f, -2.5f, -0.016666650772094727f, -0.17500001192092896f,
    0.2999999523162842f, -0.9666666984558105f, 0.7749999761581421f, -0.016666650772094727f,
};
// clang-format on

}  // namespace golden
