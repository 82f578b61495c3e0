#include "perf/support/json.hpp"

#include <cmath>
#include <cstdio>

namespace weft::perf {

void JsonWriter::Separate() {
  if (keyed_) {
    keyed_ = false;
    return;
  }
  if (!first_) text_ += ',';
  if (depth_ > 0 && flat_ == 0) {
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  } else if (!first_) {
    text_ += ' ';
  }
  first_ = false;
}

void JsonWriter::Begin(char bracket, bool flat) {
  Separate();
  text_ += bracket;
  ++depth_;
  if (flat && flat_ == 0) flat_ = depth_;
  first_ = true;
}

void JsonWriter::End(char bracket) {
  const bool was_flat = flat_ != 0;
  if (flat_ == depth_) flat_ = 0;
  --depth_;
  if (!was_flat && !first_) {
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
  text_ += bracket;
  first_ = false;
  if (depth_ == 0) text_ += '\n';
}

void JsonWriter::Key(const std::string& name) {
  String(name);
  text_ += ": ";
  keyed_ = true;
}

void JsonWriter::String(const std::string& value) {
  Separate();
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::Number(double value, int digits) {
  Separate();
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  std::string number = buffer;
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  text_ += number;
}

void JsonWriter::Integer(long long value) {
  Separate();
  text_ += std::to_string(value);
}

}  // namespace weft::perf
