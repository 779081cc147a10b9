// Written by make_goldens.py: do not edit.
#pragma once

#include <cstdint>

namespace golden {

// A byte of a block; all others are zero.
struct ByteAt {
  std::uint32_t offset;
  std::uint8_t byte;
};

// Int8<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt8Key[] = {
    {260, 0x0b}, {261, 0x54}, {262, 0xff}, {263, 0xfd}, {264, 0x30}, {265, 0xa3}, {266, 0x03},
    {268, 0xa8}, {269, 0xff}, {270, 0x87}, {271, 0x85}, {324, 0x4d}, {326, 0x15}, {327, 0x8d},
    {328, 0x99}, {329, 0x1f}, {330, 0x41}, {331, 0xff}, {332, 0xf7}, {333, 0x9b}, {334, 0xb5},
    {1090, 0x78}, {1091, 0x27}, {1092, 0xb5}, {1093, 0x24}, {1094, 0x47}, {1095, 0x26},
    {1122, 0xe0}, {1123, 0xc3}, {1124, 0x60}, {1125, 0xc0}, {1126, 0x40}, {1127, 0xc2},
};
// clang-format on

// Int6<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt6Key[] = {
    {196, 0x33}, {197, 0x05}, {198, 0x5f}, {199, 0x3e}, {200, 0x6c}, {201, 0x88}, {202, 0x01},
    {203, 0xf0}, {204, 0xda}, {205, 0x6f}, {206, 0xd1}, {207, 0x01}, {324, 0x04}, {325, 0x01},
    {326, 0x03}, {327, 0x0b}, {328, 0x08}, {329, 0x02}, {330, 0x04}, {331, 0x0c}, {332, 0x0e},
    {333, 0x0b}, {334, 0x0a}, {335, 0x02}, {834, 0x8f}, {835, 0x2f}, {836, 0xc4}, {837, 0x2c},
    {838, 0x5a}, {839, 0x2e}, {866, 0xe0}, {867, 0xc3}, {868, 0x60}, {869, 0xc0}, {870, 0x40},
    {871, 0xc2},
};
// clang-format on

// Int5<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt5Key[] = {
    {196, 0x91}, {197, 0x0a}, {198, 0x3f}, {199, 0x1f}, {200, 0x36}, {201, 0x44}, {202, 0x80},
    {203, 0xf0}, {204, 0xe4}, {205, 0x3f}, {206, 0x60}, {326, 0x01}, {327, 0x03}, {328, 0x02},
    {329, 0x01}, {331, 0x02}, {332, 0x03}, {333, 0x03}, {334, 0x03}, {335, 0x01}, {834, 0xae},
    {835, 0x33}, {836, 0xd7}, {837, 0x30}, {838, 0x74}, {839, 0x32}, {866, 0xe0}, {867, 0xc3},
    {868, 0x60}, {869, 0xc0}, {870, 0x40}, {871, 0xc2},
};
// clang-format on

// Int4<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4Key[] = {
    {132, 0x51}, {133, 0x05}, {134, 0x1f}, {135, 0x8f}, {136, 0x93}, {137, 0x2a}, {138, 0x40},
    {139, 0xf0}, {140, 0xfa}, {141, 0x9f}, {142, 0xb8}, {143, 0x08}, {578, 0xef}, {579, 0x37},
    {581, 0x35}, {582, 0xab}, {583, 0x36}, {610, 0xe0}, {611, 0xc3}, {612, 0x60}, {613, 0xc0},
    {614, 0x40}, {615, 0xc2},
};
// clang-format on

// Int3<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt3Key[] = {
    {132, 0x08}, {133, 0x02}, {134, 0x07}, {135, 0x03}, {136, 0x01}, {137, 0x04}, {138, 0x08},
    {139, 0x0c}, {140, 0x0d}, {141, 0x03}, {142, 0x04}, {198, 0x01}, {199, 0x03}, {200, 0x02},
    {201, 0x01}, {203, 0x02}, {204, 0x03}, {205, 0x03}, {206, 0x03}, {207, 0x01}, {578, 0x40},
    {579, 0x3c}, {580, 0x5c}, {581, 0x39}, {582, 0x25}, {583, 0x3b}, {610, 0xe0}, {611, 0xc3},
    {612, 0x60}, {613, 0xc0}, {614, 0x40}, {615, 0xc2},
};
// clang-format on

// Int2<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt2Key[] = {
    {68, 0x04}, {69, 0x01}, {70, 0x03}, {71, 0x0b}, {72, 0x09}, {73, 0x02}, {74, 0x04}, {75, 0x0c},
    {76, 0x0e}, {77, 0x0b}, {78, 0x0a}, {79, 0x02}, {322, 0xf6}, {323, 0x40}, {324, 0x40},
    {325, 0x3e}, {326, 0x2b}, {327, 0x40}, {354, 0xe0}, {355, 0xc3}, {356, 0x60}, {357, 0xc0},
    {358, 0x40}, {359, 0xc2},
};
// clang-format on

// Int4Channel<3>, key, rows 0..31 in slots 32..63.
// clang-format off
inline constexpr ByteAt kInt4ChannelKey[] = {
    {257, 0x05}, {258, 0x0e}, {260, 0x05}, {261, 0x09}, {262, 0x03}, {264, 0x09}, {265, 0x0e},
    {266, 0x08}, {268, 0x0e}, {269, 0x03}, {270, 0x0c}, {272, 0x03}, {273, 0x07}, {274, 0x01},
    {276, 0x07}, {277, 0x0c}, {278, 0x06}, {280, 0x0c}, {281, 0x01}, {282, 0x0a}, {284, 0x01},
    {285, 0x05}, {286, 0x0f}, {288, 0x05}, {289, 0x0a}, {290, 0x04}, {292, 0x0a}, {293, 0x0e},
    {294, 0x08}, {296, 0x0e}, {297, 0x03}, {298, 0x0d}, {300, 0x03}, {301, 0x08}, {302, 0x02},
    {304, 0x08}, {305, 0x0c}, {306, 0x07}, {308, 0x0c}, {309, 0x01}, {310, 0x0b}, {312, 0x01},
    {313, 0x06}, {316, 0x06}, {317, 0x0a}, {318, 0x05}, {384, 0x0a}, {385, 0x0f}, {386, 0x09},
    {388, 0x0f}, {389, 0x04}, {390, 0x0e}, {392, 0x04}, {393, 0x08}, {394, 0x03}, {396, 0x08},
    {397, 0x0d}, {398, 0x07}, {400, 0x0d}, {401, 0x02}, {402, 0x0c}, {404, 0x02}, {405, 0x07},
    {406, 0x01}, {408, 0x07}, {409, 0x0b}, {410, 0x05}, {412, 0x0b}, {414, 0x0a}, {417, 0x05},
    {418, 0x0e}, {420, 0x05}, {421, 0x09}, {422, 0x03}, {424, 0x09}, {425, 0x0e}, {426, 0x08},
    {428, 0x0e}, {429, 0x03}, {430, 0x0c}, {432, 0x03}, {433, 0x07}, {434, 0x01}, {436, 0x07},
    {437, 0x0c}, {438, 0x06}, {440, 0x0c}, {441, 0x01}, {442, 0x0a}, {444, 0x01}, {445, 0x05},
    {446, 0x0f}, {576, 0x12}, {577, 0x38}, {578, 0x12}, {579, 0x38}, {580, 0x12}, {581, 0x38},
    {608, 0x60}, {609, 0xc3}, {610, 0xc0}, {611, 0xc3}, {612, 0xa0}, {613, 0xc3},
};
// clang-format on

// Int4TopK<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4TopKKey[] = {
    {132, 0x70}, {133, 0x08}, {134, 0x0f}, {135, 0xff}, {136, 0xe0}, {137, 0x0f}, {138, 0x20},
    {139, 0xf0}, {140, 0xff}, {141, 0xaf}, {142, 0xf1}, {578, 0x78}, {579, 0x33}, {580, 0x89},
    {581, 0x30}, {582, 0x78}, {583, 0x2b}, {610, 0xa0}, {611, 0xc2}, {612, 0x40}, {613, 0xbd},
    {615, 0x30}, {933, 0x02}, {934, 0x03}, {935, 0x05}, {936, 0x02}, {937, 0x03}, {938, 0x05},
    {939, 0x07}, {940, 0x01}, {941, 0x04}, {942, 0x06}, {943, 0x07}, {996, 0xf4}, {997, 0x7f},
    {998, 0x7d}, {999, 0xe8}, {1000, 0xc3}, {1001, 0xbe}, {1002, 0xe8}, {1003, 0x7f}, {1004, 0x53},
    {1005, 0x4c}, {1006, 0x0c}, {1007, 0x81}, {1058, 0xad}, {1059, 0x26}, {1060, 0xcd},
    {1061, 0x22}, {1062, 0x8e}, {1063, 0x26},
};
// clang-format on

// Int8<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt8Value[] = {
    {257, 0x0b}, {258, 0x30}, {259, 0xa8}, {261, 0x54}, {262, 0xa3}, {263, 0xff}, {265, 0xff},
    {266, 0x03}, {267, 0x87}, {269, 0xfd}, {271, 0x85}, {273, 0x4d}, {274, 0x99}, {275, 0xf7},
    {278, 0x1f}, {279, 0x9b}, {281, 0x15}, {282, 0x41}, {283, 0xb5}, {285, 0x8d}, {286, 0xff},
    {1058, 0x78}, {1059, 0x27}, {1060, 0xb5}, {1061, 0x24}, {1062, 0x47}, {1063, 0x26},
    {1186, 0xe0}, {1187, 0xc3}, {1188, 0x60}, {1189, 0xc0}, {1190, 0x40}, {1191, 0xc2},
};
// clang-format on

// Int6<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt6Value[] = {
    {129, 0x03}, {130, 0x0c}, {131, 0x0a}, {133, 0x05}, {134, 0x08}, {135, 0x0f}, {137, 0x0f},
    {138, 0x01}, {139, 0x01}, {141, 0x0e}, {143, 0x01}, {145, 0x03}, {146, 0x06}, {147, 0x0d},
    {150, 0x08}, {151, 0x06}, {153, 0x05}, {155, 0x0d}, {157, 0x03}, {158, 0x0f}, {579, 0x02},
    {581, 0x01}, {582, 0x02}, {583, 0x03}, {585, 0x03}, {587, 0x02}, {589, 0x03}, {591, 0x02},
    {593, 0x01}, {594, 0x02}, {595, 0x03}, {599, 0x02}, {602, 0x01}, {603, 0x02}, {605, 0x02},
    {606, 0x03}, {802, 0x8f}, {803, 0x2f}, {804, 0xc4}, {805, 0x2c}, {806, 0x5a}, {807, 0x2e},
    {930, 0xe0}, {931, 0xc3}, {932, 0x60}, {933, 0xc0}, {934, 0x40}, {935, 0xc2},
};
// clang-format on

// Int5<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt5Value[] = {
    {129, 0x01}, {130, 0x06}, {131, 0x04}, {133, 0x0a}, {134, 0x04}, {135, 0x0f}, {137, 0x0f},
    {141, 0x0f}, {145, 0x09}, {146, 0x03}, {147, 0x0e}, {150, 0x04}, {151, 0x03}, {153, 0x03},
    {154, 0x08}, {155, 0x06}, {157, 0x01}, {158, 0x0f}, {515, 0x10}, {518, 0x10}, {519, 0x10},
    {521, 0x10}, {523, 0x10}, {525, 0x10}, {527, 0x10}, {530, 0x10}, {531, 0x10}, {535, 0x10},
    {539, 0x10}, {541, 0x10}, {542, 0x10}, {674, 0xae}, {675, 0x33}, {676, 0xd7}, {677, 0x30},
    {678, 0x74}, {679, 0x32}, {802, 0xe0}, {803, 0xc3}, {804, 0x60}, {805, 0xc0}, {806, 0x40},
    {807, 0xc2},
};
// clang-format on

// Int4<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4Value[] = {
    {129, 0x01}, {130, 0x03}, {131, 0x0a}, {133, 0x05}, {134, 0x0a}, {135, 0x0f}, {137, 0x0f},
    {139, 0x08}, {141, 0x0f}, {143, 0x08}, {145, 0x05}, {146, 0x09}, {147, 0x0f}, {150, 0x02},
    {151, 0x09}, {153, 0x01}, {154, 0x04}, {155, 0x0b}, {157, 0x08}, {158, 0x0f}, {546, 0xef},
    {547, 0x37}, {549, 0x35}, {550, 0xab}, {551, 0x36}, {674, 0xe0}, {675, 0xc3}, {676, 0x60},
    {677, 0xc0}, {678, 0x40}, {679, 0xc2},
};
// clang-format on

// Int3<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt3Value[] = {
    {66, 0x01}, {67, 0x01}, {69, 0x02}, {71, 0x03}, {73, 0x03}, {77, 0x03}, {81, 0x02}, {83, 0x03},
    {86, 0x01}, {89, 0x01}, {90, 0x02}, {91, 0x01}, {94, 0x03}, {259, 0x10}, {262, 0x10},
    {263, 0x10}, {265, 0x10}, {267, 0x10}, {269, 0x10}, {271, 0x10}, {274, 0x10}, {275, 0x10},
    {279, 0x10}, {283, 0x10}, {285, 0x10}, {286, 0x10}, {418, 0x40}, {419, 0x3c}, {420, 0x5c},
    {421, 0x39}, {422, 0x25}, {423, 0x3b}, {546, 0xe0}, {547, 0xc3}, {548, 0x60}, {549, 0xc0},
    {550, 0x40}, {551, 0xc2},
};
// clang-format on

// Int2<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt2Value[] = {
    {66, 0x01}, {67, 0x02}, {69, 0x01}, {70, 0x02}, {71, 0x03}, {73, 0x03}, {75, 0x02}, {77, 0x03},
    {79, 0x02}, {81, 0x01}, {82, 0x02}, {83, 0x03}, {87, 0x02}, {90, 0x01}, {91, 0x02}, {93, 0x02},
    {94, 0x03}, {290, 0xf6}, {291, 0x40}, {292, 0x40}, {293, 0x3e}, {294, 0x2b}, {295, 0x40},
    {418, 0xe0}, {419, 0xc3}, {420, 0x60}, {421, 0xc0}, {422, 0x40}, {423, 0xc2},
};
// clang-format on

// Int4Channel<3>, value, rows 0..31 in slots 32..63.
// clang-format off
inline constexpr ByteAt kInt4ChannelValue[] = {
    {256, 0x30}, {257, 0x75}, {258, 0xc9}, {259, 0x1e}, {260, 0x75}, {261, 0xc9}, {262, 0x1e},
    {263, 0x53}, {264, 0x1e}, {265, 0x63}, {266, 0xa8}, {267, 0xfc}, {320, 0x85}, {321, 0xca},
    {322, 0x1e}, {323, 0x63}, {324, 0xca}, {325, 0x1e}, {326, 0x63}, {327, 0xa8}, {328, 0x74},
    {329, 0xb8}, {330, 0x0d}, {331, 0x52}, {384, 0xda}, {385, 0x2f}, {386, 0x74}, {387, 0xb8},
    {388, 0x2f}, {389, 0x74}, {390, 0xb8}, {391, 0x0d}, {392, 0xc9}, {393, 0x1e}, {394, 0x53},
    {395, 0xa7}, {448, 0x30}, {449, 0x75}, {450, 0xc9}, {451, 0x1e}, {452, 0x75}, {453, 0xc9},
    {454, 0x1e}, {455, 0x53}, {456, 0x1e}, {457, 0x63}, {458, 0xa8}, {459, 0xfc}, {576, 0x12},
    {577, 0x38}, {578, 0x12}, {579, 0x38}, {580, 0x12}, {581, 0x38}, {608, 0x60}, {609, 0xc3},
    {610, 0xc0}, {611, 0xc3}, {612, 0xa0}, {613, 0xc3},
};
// clang-format on

// Int4TopK<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4TopKValue[] = {
    {131, 0x0f}, {133, 0x08}, {134, 0x0f}, {135, 0x0f}, {137, 0x0f}, {139, 0x01}, {141, 0x0f},
    {145, 0x07}, {146, 0x0e}, {147, 0x0f}, {151, 0x0a}, {154, 0x02}, {155, 0x0f}, {157, 0x0f},
    {158, 0x0f}, {546, 0x78}, {547, 0x33}, {548, 0x89}, {549, 0x30}, {550, 0x78}, {551, 0x2b},
    {674, 0xa0}, {675, 0xc2}, {676, 0x40}, {677, 0xbd}, {679, 0x30}, {933, 0x02}, {934, 0x03},
    {935, 0x05}, {936, 0x02}, {937, 0x03}, {938, 0x05}, {939, 0x07}, {940, 0x01}, {941, 0x04},
    {942, 0x06}, {943, 0x07}, {996, 0xf4}, {997, 0x7f}, {998, 0x7d}, {999, 0xe8}, {1000, 0xc3},
    {1001, 0xbe}, {1002, 0xe8}, {1003, 0x7f}, {1004, 0x53}, {1005, 0x4c}, {1006, 0x0c},
    {1007, 0x81}, {1058, 0xad}, {1059, 0x26}, {1060, 0xcd}, {1061, 0x22}, {1062, 0x8e},
    {1063, 0x26},
};
// clang-format on

// CenteredRotatedKey<12, 4>, rows 0..2 at positions 1000..1002 in slots 17..19.
// clang-format off
inline constexpr ByteAt kCenteredRotated4Key[] = {
    {132, 0x88}, {133, 0x5f}, {134, 0xd5}, {135, 0x03}, {136, 0xb3}, {137, 0x08}, {138, 0xb7},
    {139, 0xea}, {140, 0x32}, {141, 0xf1}, {142, 0x80}, {143, 0x58}, {196, 0x08}, {197, 0x0f},
    {198, 0x07}, {199, 0x02}, {200, 0x0c}, {201, 0x0f}, {202, 0x01}, {203, 0x0f}, {204, 0x0b},
    {205, 0x05}, {206, 0x0d}, {207, 0x06}, {578, 0xfa}, {579, 0x38}, {580, 0x8e}, {581, 0x35},
    {582, 0xb6}, {583, 0x36}, {610, 0xb1}, {611, 0xc5}, {612, 0x9a}, {613, 0xc2}, {614, 0x1e},
    {615, 0xc0},
};
// clang-format on

// Its rotation: pairs (i, i + 4).
// clang-format off
inline constexpr std::uint64_t kTurns[] = {
    2935890503282001226u, 293589050328200122u, 81985529216486895u, 18364758544493064720u,
};
// clang-format on

// clang-format off
inline constexpr float kMean[] = {
    -0.375f, 0.5f, -0.25f, 0.625f, -0.125f, 0.75f, 0.0f, -0.75f, 0.125f, -0.625f, 0.25f, -0.5f,
};
// clang-format on

// Fused codec, case C1.
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

// Fused codec, case C2.
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

// Fused codec, case C3.
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

// Fused codec, case C5a.
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

// Fused codec, case C5b.
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

}  // namespace golden
