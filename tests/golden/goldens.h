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
    {261, 0x3e}, {262, 0xce}, {263, 0x8b}, {264, 0x29}, {265, 0x69}, {266, 0xff}, {267, 0xba},
    {268, 0x5c}, {269, 0x9d}, {271, 0xee}, {324, 0x9c}, {325, 0xff}, {326, 0x8f}, {327, 0x72},
    {328, 0xcb}, {330, 0xbd}, {331, 0x9f}, {332, 0xff}, {333, 0x33}, {334, 0xf2}, {335, 0xd3},
    {1090, 0xf4}, {1091, 0x26}, {1092, 0xb3}, {1093, 0x26}, {1094, 0xa8}, {1095, 0x26},
    {1122, 0xff}, {1123, 0xc3}, {1124, 0x88}, {1125, 0xc2}, {1126, 0x92}, {1127, 0xc1},
};
// clang-format on

// Int6<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt6Key[] = {
    {196, 0x60}, {197, 0xff}, {198, 0x33}, {199, 0xc2}, {200, 0x2a}, {201, 0x0a}, {202, 0xff},
    {203, 0x7e}, {204, 0xf7}, {205, 0xd7}, {206, 0xc0}, {207, 0x4b}, {324, 0x08}, {325, 0x0c},
    {326, 0x0b}, {327, 0x06}, {328, 0x0c}, {329, 0x01}, {330, 0x0b}, {331, 0x0a}, {332, 0x0d},
    {333, 0x02}, {334, 0x0c}, {335, 0x0f}, {834, 0x09}, {835, 0x2f}, {836, 0xc8}, {837, 0x2e},
    {838, 0xbc}, {839, 0x2e}, {866, 0xff}, {867, 0xc3}, {868, 0x88}, {869, 0xc2}, {870, 0x92},
    {871, 0xc1},
};
// clang-format on

// Int5<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt5Key[] = {
    {196, 0x30}, {197, 0xf7}, {198, 0x19}, {199, 0xe1}, {200, 0x95}, {201, 0x0d}, {202, 0x7f},
    {203, 0x37}, {204, 0xfb}, {205, 0x63}, {206, 0xd0}, {207, 0xad}, {324, 0x02}, {325, 0x02},
    {326, 0x03}, {327, 0x01}, {328, 0x02}, {330, 0x03}, {331, 0x03}, {332, 0x02}, {333, 0x01},
    {334, 0x02}, {335, 0x03}, {834, 0x26}, {835, 0x33}, {836, 0xe4}, {837, 0x32}, {838, 0xd8},
    {839, 0x32}, {866, 0xff}, {867, 0xc3}, {868, 0x88}, {869, 0xc2}, {870, 0x92}, {871, 0xc1},
};
// clang-format on

// Int4<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4Key[] = {
    {132, 0x90}, {133, 0xf4}, {134, 0x8c}, {135, 0x78}, {136, 0xc2}, {137, 0x06}, {138, 0xbf},
    {139, 0x9b}, {140, 0xf5}, {141, 0x39}, {142, 0xe0}, {143, 0xce}, {578, 0x63}, {579, 0x37},
    {580, 0x1f}, {581, 0x37}, {582, 0x12}, {583, 0x37}, {610, 0xff}, {611, 0xc3}, {612, 0x88},
    {613, 0xc2}, {614, 0x92}, {615, 0xc1},
};
// clang-format on

// Int3<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt3Key[] = {
    {133, 0x0e}, {134, 0x02}, {135, 0x0c}, {136, 0x09}, {137, 0x03}, {138, 0x07}, {139, 0x01},
    {140, 0x0f}, {141, 0x04}, {142, 0x0c}, {143, 0x0b}, {196, 0x02}, {197, 0x02}, {198, 0x03},
    {199, 0x01}, {200, 0x02}, {202, 0x03}, {203, 0x03}, {204, 0x02}, {205, 0x01}, {206, 0x02},
    {207, 0x03}, {578, 0xea}, {579, 0x3b}, {580, 0xa1}, {581, 0x3b}, {582, 0x93}, {583, 0x3b},
    {610, 0xff}, {611, 0xc3}, {612, 0x88}, {613, 0xc2}, {614, 0x92}, {615, 0xc1},
};
// clang-format on

// Int2<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt2Key[] = {
    {68, 0x08}, {69, 0x0d}, {70, 0x0a}, {71, 0x06}, {72, 0x08}, {73, 0x01}, {74, 0x0b}, {75, 0x0a},
    {76, 0x0d}, {77, 0x06}, {78, 0x0c}, {79, 0x0b}, {322, 0x9e}, {323, 0x40}, {324, 0x73},
    {325, 0x40}, {326, 0x6b}, {327, 0x40}, {354, 0xff}, {355, 0xc3}, {356, 0x88}, {357, 0xc2},
    {358, 0x92}, {359, 0xc1},
};
// clang-format on

// Int4Channel<3>, key, rows 0..31 in slots 32..63.
// clang-format off
inline constexpr ByteAt kInt4ChannelKey[] = {
    {257, 0x03}, {258, 0x0a}, {260, 0x03}, {261, 0x06}, {262, 0x0e}, {264, 0x07}, {265, 0x0a},
    {266, 0x02}, {268, 0x0a}, {269, 0x0d}, {270, 0x05}, {272, 0x0e}, {273, 0x01}, {274, 0x09},
    {276, 0x02}, {277, 0x05}, {278, 0x0c}, {280, 0x05}, {281, 0x08}, {284, 0x09}, {285, 0x0c},
    {286, 0x04}, {288, 0x0c}, {290, 0x07}, {292, 0x01}, {293, 0x03}, {294, 0x0b}, {296, 0x04},
    {297, 0x07}, {298, 0x0e}, {300, 0x07}, {301, 0x0a}, {302, 0x02}, {304, 0x0b}, {305, 0x0e},
    {306, 0x06}, {308, 0x0e}, {309, 0x02}, {310, 0x09}, {312, 0x03}, {313, 0x05}, {314, 0x0d},
    {316, 0x06}, {317, 0x09}, {318, 0x01}, {384, 0x09}, {385, 0x0c}, {386, 0x04}, {388, 0x0d},
    {389, 0x01}, {390, 0x08}, {392, 0x01}, {393, 0x04}, {394, 0x0b}, {396, 0x05}, {397, 0x08},
    {398, 0x0f}, {400, 0x08}, {401, 0x0b}, {402, 0x03}, {404, 0x0b}, {405, 0x0e}, {406, 0x06},
    {408, 0x0f}, {409, 0x03}, {410, 0x0a}, {412, 0x03}, {413, 0x06}, {414, 0x0e}, {416, 0x07},
    {417, 0x0a}, {418, 0x01}, {420, 0x0a}, {421, 0x0d}, {422, 0x05}, {424, 0x0e}, {425, 0x01},
    {426, 0x09}, {428, 0x02}, {429, 0x05}, {430, 0x0c}, {432, 0x05}, {433, 0x08}, {436, 0x09},
    {437, 0x0c}, {438, 0x04}, {440, 0x0c}, {441, 0x0f}, {442, 0x07}, {445, 0x03}, {446, 0x0b},
    {576, 0x25}, {577, 0x38}, {578, 0x24}, {579, 0x38}, {580, 0x20}, {581, 0x38}, {608, 0xff},
    {609, 0xc3}, {610, 0xbc}, {611, 0xc3}, {612, 0x95}, {613, 0xc3},
};
// clang-format on

// Int4TopK<8>, key, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4TopKKey[] = {
    {132, 0xf0}, {133, 0xf0}, {134, 0xaf}, {135, 0x09}, {136, 0xf0}, {138, 0xff}, {139, 0xae},
    {140, 0xf4}, {141, 0x0a}, {142, 0xf0}, {143, 0xff}, {578, 0xd3}, {579, 0x2c}, {580, 0xb7},
    {581, 0x30}, {582, 0x73}, {583, 0x34}, {610, 0x3a}, {611, 0xbb}, {612, 0x28}, {613, 0xb8},
    {614, 0xd6}, {615, 0xbd}, {933, 0x01}, {934, 0x02}, {935, 0x05}, {937, 0x02}, {938, 0x04},
    {939, 0x05}, {940, 0x02}, {941, 0x03}, {942, 0x04}, {943, 0x06}, {996, 0x81}, {997, 0xc6},
    {998, 0x38}, {999, 0x6f}, {1000, 0xb3}, {1001, 0x4f}, {1002, 0x10}, {1003, 0x81}, {1004, 0x81},
    {1005, 0x42}, {1006, 0x6c}, {1007, 0x4b}, {1058, 0x3d}, {1059, 0x26}, {1060, 0x8a},
    {1061, 0x25}, {1062, 0x58}, {1063, 0x21},
};
// clang-format on

// Int8<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt8Value[] = {
    {258, 0x29}, {259, 0x5c}, {261, 0x3e}, {262, 0x69}, {263, 0x9d}, {265, 0xce}, {266, 0xff},
    {269, 0x8b}, {270, 0xba}, {271, 0xee}, {273, 0x9c}, {274, 0xcb}, {275, 0xff}, {277, 0xff},
    {279, 0x33}, {281, 0x8f}, {282, 0xbd}, {283, 0xf2}, {285, 0x72}, {286, 0x9f}, {287, 0xd3},
    {1058, 0xf4}, {1059, 0x26}, {1060, 0xb3}, {1061, 0x26}, {1062, 0xa8}, {1063, 0x26},
    {1186, 0xff}, {1187, 0xc3}, {1188, 0x88}, {1189, 0xc2}, {1190, 0x92}, {1191, 0xc1},
};
// clang-format on

// Int6<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt6Value[] = {
    {130, 0x0a}, {131, 0x07}, {133, 0x0f}, {134, 0x0a}, {135, 0x07}, {137, 0x03}, {138, 0x0f},
    {141, 0x02}, {142, 0x0e}, {143, 0x0b}, {145, 0x06}, {146, 0x02}, {147, 0x0f}, {149, 0x0f},
    {151, 0x0d}, {153, 0x03}, {154, 0x0f}, {155, 0x0c}, {157, 0x0c}, {158, 0x07}, {159, 0x04},
    {579, 0x01}, {582, 0x01}, {583, 0x02}, {585, 0x03}, {586, 0x03}, {589, 0x02}, {590, 0x02},
    {591, 0x03}, {593, 0x02}, {594, 0x03}, {595, 0x03}, {597, 0x03}, {601, 0x02}, {602, 0x02},
    {603, 0x03}, {605, 0x01}, {606, 0x02}, {607, 0x03}, {802, 0x09}, {803, 0x2f}, {804, 0xc8},
    {805, 0x2e}, {806, 0xbc}, {807, 0x2e}, {930, 0xff}, {931, 0xc3}, {932, 0x88}, {933, 0xc2},
    {934, 0x92}, {935, 0xc1},
};
// clang-format on

// Int5<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt5Value[] = {
    {130, 0x05}, {131, 0x0b}, {133, 0x07}, {134, 0x0d}, {135, 0x03}, {137, 0x09}, {138, 0x0f},
    {141, 0x01}, {142, 0x07}, {143, 0x0d}, {145, 0x03}, {146, 0x09}, {147, 0x0f}, {149, 0x0f},
    {151, 0x06}, {153, 0x01}, {154, 0x07}, {155, 0x0d}, {157, 0x0e}, {158, 0x03}, {159, 0x0a},
    {519, 0x10}, {521, 0x10}, {522, 0x10}, {525, 0x10}, {526, 0x10}, {527, 0x10}, {529, 0x10},
    {530, 0x10}, {531, 0x10}, {533, 0x10}, {537, 0x10}, {538, 0x10}, {539, 0x10}, {542, 0x10},
    {543, 0x10}, {674, 0x26}, {675, 0x33}, {676, 0xe4}, {677, 0x32}, {678, 0xd8}, {679, 0x32},
    {802, 0xff}, {803, 0xc3}, {804, 0x88}, {805, 0xc2}, {806, 0x92}, {807, 0xc1},
};
// clang-format on

// Int4<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4Value[] = {
    {130, 0x02}, {131, 0x05}, {133, 0x04}, {134, 0x06}, {135, 0x09}, {137, 0x0c}, {138, 0x0f},
    {141, 0x08}, {142, 0x0b}, {143, 0x0e}, {145, 0x09}, {146, 0x0c}, {147, 0x0f}, {149, 0x0f},
    {151, 0x03}, {153, 0x08}, {154, 0x0b}, {155, 0x0e}, {157, 0x07}, {158, 0x09}, {159, 0x0c},
    {546, 0x63}, {547, 0x37}, {548, 0x1f}, {549, 0x37}, {550, 0x12}, {551, 0x37}, {674, 0xff},
    {675, 0xc3}, {676, 0x88}, {677, 0xc2}, {678, 0x92}, {679, 0xc1},
};
// clang-format on

// Int3<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt3Value[] = {
    {66, 0x01}, {67, 0x03}, {69, 0x02}, {70, 0x03}, {73, 0x02}, {74, 0x03}, {78, 0x01}, {79, 0x03},
    {82, 0x02}, {83, 0x03}, {85, 0x03}, {87, 0x01}, {90, 0x01}, {91, 0x03}, {93, 0x03}, {95, 0x02},
    {263, 0x10}, {265, 0x10}, {266, 0x10}, {269, 0x10}, {270, 0x10}, {271, 0x10}, {273, 0x10},
    {274, 0x10}, {275, 0x10}, {277, 0x10}, {281, 0x10}, {282, 0x10}, {283, 0x10}, {286, 0x10},
    {287, 0x10}, {418, 0xea}, {419, 0x3b}, {420, 0xa1}, {421, 0x3b}, {422, 0x93}, {423, 0x3b},
    {546, 0xff}, {547, 0xc3}, {548, 0x88}, {549, 0xc2}, {550, 0x92}, {551, 0xc1},
};
// clang-format on

// Int2<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt2Value[] = {
    {67, 0x01}, {69, 0x01}, {70, 0x01}, {71, 0x02}, {73, 0x02}, {74, 0x03}, {77, 0x02}, {78, 0x02},
    {79, 0x03}, {81, 0x02}, {82, 0x02}, {83, 0x03}, {85, 0x03}, {87, 0x01}, {89, 0x02}, {90, 0x02},
    {91, 0x03}, {93, 0x01}, {94, 0x02}, {95, 0x02}, {290, 0x9e}, {291, 0x40}, {292, 0x73},
    {293, 0x40}, {294, 0x6b}, {295, 0x40}, {418, 0xff}, {419, 0xc3}, {420, 0x88}, {421, 0xc2},
    {422, 0x92}, {423, 0xc1},
};
// clang-format on

// Int4Channel<3>, value, rows 0..31 in slots 32..63.
// clang-format off
inline constexpr ByteAt kInt4ChannelValue[] = {
    {256, 0xe0}, {257, 0x23}, {258, 0x57}, {259, 0x9a}, {260, 0x13}, {261, 0x56}, {262, 0x8a},
    {263, 0xcd}, {264, 0x9a}, {265, 0xce}, {266, 0x02}, {267, 0x45}, {320, 0xbc}, {321, 0xe1},
    {322, 0x34}, {323, 0x67}, {324, 0xe0}, {325, 0x23}, {326, 0x57}, {327, 0x9a}, {328, 0x67},
    {329, 0x9b}, {330, 0xde}, {331, 0x12}, {384, 0x89}, {385, 0xbd}, {386, 0xf1}, {387, 0x35},
    {388, 0xbc}, {389, 0xe1}, {390, 0x34}, {391, 0x68}, {392, 0x34}, {393, 0x68}, {394, 0xab},
    {395, 0xef}, {448, 0x57}, {449, 0x9a}, {450, 0xce}, {451, 0x02}, {452, 0x8a}, {453, 0xcd},
    {454, 0xf1}, {455, 0x35}, {456, 0x01}, {457, 0x45}, {458, 0x79}, {459, 0xbc}, {576, 0x25},
    {577, 0x38}, {578, 0x24}, {579, 0x38}, {580, 0x20}, {581, 0x38}, {608, 0xff}, {609, 0xc3},
    {610, 0xbc}, {611, 0xc3}, {612, 0x95}, {613, 0xc3},
};
// clang-format on

// Int4TopK<8>, value, rows 0..2 in slots 17..19.
// clang-format off
inline constexpr ByteAt kInt4TopKValue[] = {
    {131, 0x04}, {135, 0x0a}, {137, 0x0f}, {138, 0x0f}, {141, 0x09}, {142, 0x0e}, {143, 0x0f},
    {145, 0x0f}, {146, 0x0f}, {147, 0x0f}, {149, 0x0f}, {153, 0x0a}, {154, 0x0f}, {155, 0x0f},
    {158, 0x0a}, {159, 0x0f}, {546, 0xd3}, {547, 0x2c}, {548, 0xb7}, {549, 0x30}, {550, 0x73},
    {551, 0x34}, {674, 0x3a}, {675, 0xbb}, {676, 0x28}, {677, 0xb8}, {678, 0xd6}, {679, 0xbd},
    {933, 0x01}, {934, 0x02}, {935, 0x05}, {937, 0x02}, {938, 0x04}, {939, 0x05}, {940, 0x02},
    {941, 0x03}, {942, 0x04}, {943, 0x06}, {996, 0x81}, {997, 0xc6}, {998, 0x38}, {999, 0x6f},
    {1000, 0xb3}, {1001, 0x4f}, {1002, 0x10}, {1003, 0x81}, {1004, 0x81}, {1005, 0x42},
    {1006, 0x6c}, {1007, 0x4b}, {1058, 0x3d}, {1059, 0x26}, {1060, 0x8a}, {1061, 0x25},
    {1062, 0x58}, {1063, 0x21},
};
// clang-format on

// CenteredRotatedKey<12, 4>, rows 0..2 at positions 1000..1002 in slots 17..19.
// clang-format off
inline constexpr ByteAt kCenteredRotated4Key[] = {
    {132, 0x59}, {133, 0x71}, {134, 0x66}, {135, 0x20}, {136, 0xb2}, {137, 0x88}, {138, 0x83},
    {139, 0x03}, {140, 0xd0}, {141, 0xea}, {142, 0xff}, {143, 0xbb}, {196, 0x06}, {197, 0x06},
    {198, 0x0f}, {199, 0x04}, {200, 0x0f}, {201, 0x08}, {202, 0x04}, {203, 0x07}, {204, 0x0b},
    {205, 0x0a}, {206, 0x05}, {207, 0x08}, {578, 0x53}, {579, 0x38}, {580, 0x2e}, {581, 0x39},
    {582, 0xea}, {583, 0x38}, {610, 0xa3}, {611, 0xc3}, {612, 0x49}, {613, 0xc4}, {614, 0x1d},
    {615, 0xc7},
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
