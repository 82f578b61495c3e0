// Writing JSON.
#pragma once

#include <string>

namespace weft::perf {

// One value under construction: Begin..., then Key and values, then End. The text is indented, but
// for objects begun with `flat`, which take one line.
class JsonWriter {
 public:
  void BeginObject(bool flat = false) { Begin('{', flat); }
  void EndObject() { End('}'); }
  void BeginArray(bool flat = false) { Begin('[', flat); }
  void EndArray() { End(']'); }
  void Key(const std::string& name);

  void String(const std::string& value);
  // At most `digits` after the decimal point; null if not finite.
  void Number(double value, int digits = 3);
  void Integer(long long value);

  // Key and value.
  void Field(const std::string& name, const std::string& value) { Key(name), String(value); }
  void Field(const std::string& name, double value, int digits = 3) {
    Key(name), Number(value, digits);
  }
  void Field(const std::string& name, long long value) { Key(name), Integer(value); }
  void Field(const std::string& name, int value) { Key(name), Integer(value); }

  const std::string& text() const { return text_; }

 private:
  void Begin(char bracket, bool flat);
  void End(char bracket);
  void Separate();  // what goes before a key, or before a value of an array

  std::string text_;
  int depth_ = 0;
  int flat_ = 0;        // the depth at which the outermost flat object began; 0: none
  bool first_ = true;   // nothing yet in the innermost object or array
  bool keyed_ = false;  // a key waits for its value
};

}  // namespace weft::perf
