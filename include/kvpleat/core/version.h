// The version, written here and nowhere else; the build reads it.
#pragma once

namespace kvpleat {

inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;

}  // namespace kvpleat
