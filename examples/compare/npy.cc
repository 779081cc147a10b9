#include "compare/npy.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "kvpleat/core/half.h"

namespace compare {
namespace {

// The header is a Python dictionary literal with exactly three known keys. This parser takes that
// and nothing more.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  bool parse(std::string& type, bool& fortran, std::vector<std::size_t>& shape) {
    bool have_type = false;
    bool have_order = false;
    bool have_shape = false;
    if (!take('{')) return fail("expected '{'");
    while (!take('}')) {
      std::string key;
      if (!quoted(key) || !take(':')) return fail("expected a quoted key and ':'");
      if (key == "descr" && !have_type) {
        have_type = quoted(type);
        if (!have_type) return fail("descr is not a plain type");
      } else if (key == "fortran_order" && !have_order) {
        have_order = boolean(fortran);
        if (!have_order) return fail("fortran_order is neither True nor False");
      } else if (key == "shape" && !have_shape) {
        have_shape = tuple(shape);
        if (!have_shape) return fail("shape is not a tuple of sizes");
      } else {
        return fail("unknown or repeated key '" + key + "'");
      }
      if (!take(',') && !peek('}')) return fail("expected ',' or '}'");
    }
    skip_space();
    if (at_ != text_.size()) return fail("text after the dictionary");
    if (!have_type || !have_order || !have_shape)
      return fail("descr, fortran_order or shape is missing");
    return true;
  }
  const std::string& error() const { return error_; }

 private:
  bool fail(const std::string& what) {
    if (error_.empty()) error_ = "bad header: " + what;
    return false;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  bool quoted(std::string& out) {
    if (!take('\'')) return false;
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return false;
    out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }
  bool boolean(bool& out) {
    skip_space();
    for (const auto& [word, value] :
         {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        out = value;
        return true;
      }
    }
    return false;
  }
  bool tuple(std::vector<std::size_t>& out) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      std::size_t value = 0;
      std::size_t digits = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
        const auto digit = static_cast<std::size_t>(text_[at_] - '0');
        if (value > (static_cast<std::size_t>(-1) - digit) / 10) return fail("a size overflows");
        value = value * 10 + digit;
      }
      if (digits == 0 || out.size() == 32) return false;
      out.push_back(value);
      if (!take(',') && !peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

bool parse_npy(const std::string& name, const std::vector<unsigned char>& file, NpyArray& array,
               std::string& error) {
  const auto refuse = [&](const std::string& what) {
    error = name + ": " + what;
    return false;
  };
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0)
    return refuse("not a .npy file");
  const unsigned major = file[6];
  if (major < 1 || major > 3 || file[7] != 0) {
    return refuse("unknown .npy version " + std::to_string(major) + "." + std::to_string(file[7]));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < 8 + length_bytes) return refuse("the file ends inside its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(file[8 + i]) << (8 * i);
  const std::size_t start = 8 + length_bytes;
  if (length > file.size() - start)
    return refuse("the header length is beyond the end of the file");
  std::string type;
  bool fortran = false;
  std::vector<std::size_t> shape;
  HeaderParser header(std::string_view(reinterpret_cast<const char*>(file.data()) + start, length));
  if (!header.parse(type, fortran, shape)) return refuse(header.error());
  if (fortran) return refuse("Fortran order is not supported: save with numpy.ascontiguousarray");
  std::size_t width = 0;
  if (type == "<f2") width = 2;
  if (type == "<f4") width = 4;
  if (width == 0)
    return refuse("type '" + type +
                  "' is not supported: save as float16 or float32, little-endian");

  const std::size_t data_bytes = file.size() - start - length;
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (size != 0 && count > (static_cast<std::size_t>(-1) / width) / size)
      return refuse("the shape overflows");
    count *= size;
  }
  if (count * width != data_bytes) {
    return refuse("the header promises " + std::to_string(count * width) +
                  " bytes of data, the file has " + std::to_string(data_bytes));
  }
  std::vector<float> values(count);
  const unsigned char* data = file.data() + start + length;
  for (std::size_t i = 0; i < count; ++i) {
    if (width == 2) {
      values[i] = kvpleat::to_float(kvpleat::load<kvpleat::Half>(data + 2 * i));
    } else {
      values[i] = kvpleat::load<float>(data + 4 * i);
    }
  }
  array.shape = std::move(shape);
  array.values = std::move(values);
  return true;
}

bool read_npy(const std::string& path, NpyArray& array, std::string& error) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!std::filesystem::is_regular_file(path) || !stream) {
    error = path + ": cannot be opened";
    return false;
  }
  const std::streamoff size = stream.tellg();
  if (size < 0) {
    error = path + ": cannot be read";
    return false;
  }
  std::vector<unsigned char> file(static_cast<std::size_t>(size));
  stream.seekg(0);
  if (!file.empty() && !stream.read(reinterpret_cast<char*>(file.data()), size)) {
    error = path + ": cannot be read";
    return false;
  }
  return parse_npy(path, file, array, error);
}

}  // namespace compare
