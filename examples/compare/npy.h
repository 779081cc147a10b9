// A small, strict reader of NumPy .npy files: little-endian float16 and float32 in C order, nothing
// else.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace compare {

struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<float> values;  // row-major; float16 widened exactly
};

// Reads a file. On failure returns false and sets `error` to one line that names the file and what
// is wrong with it; `array` is untouched. Refused: other types and byte orders, Fortran order,
// unknown versions, headers that do not parse, shapes whose product overflows, files shorter or
// longer than the header says.
bool read_npy(const std::string& path, NpyArray& array, std::string& error);
// The same from memory; `name` is for messages.
bool parse_npy(const std::string& name, const std::vector<unsigned char>& file, NpyArray& array,
               std::string& error);

}  // namespace compare
