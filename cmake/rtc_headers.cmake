# cmake -DROOT=... -DOUTPUT=... -P rtc_headers.cmake: writes the source that has the text of what rtc's compilers
# include (rtc/text/headers.hpp): what programs and twins begin with, functors' headers, lists of kernels, and all headers that
# these include, whether the preprocessor comes there or not.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE pending RELATIVE ${ROOT}
     ${ROOT}/layouts/*.hpp ${ROOT}/prologues/*.hpp ${ROOT}/epilogues/*.hpp ${ROOT}/rtc/standard/*.hpp)
list(APPEND pending rtc/gpu/program.cuh rtc/cpu/twin_table.hpp rtc/policy/bottleneck_record.hpp network/operators/tensor_kernels.hpp)
set(known)
while(pending)
  list(POP_FRONT pending path)
  if(path IN_LIST known OR NOT EXISTS ${ROOT}/${path})
    continue()
  endif()
  list(APPEND known ${path})
  file(STRINGS ${ROOT}/${path} lines REGEX "^ *# *include \"weft/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\"weft/([^\"]+)\".*" "\\1" included "${line}")
    list(APPEND pending ${included})
  endforeach()
endwhile()
list(SORT known)
set(texts)
foreach(path IN LISTS known)
  file(READ ${ROOT}/${path} text)
  string(APPEND texts "{\"weft/${path}\", R\"weft_text(${text})weft_text\"sv},\n")
endforeach()
string(SHA256 digest "${texts}")
file(WRITE ${OUTPUT} "// Made by cmake/rtc_headers.cmake.
#include \"weft/rtc/text/headers.hpp\"

namespace weft::rtc {
namespace {

using std::literals::operator\"\"sv;
constexpr Header kHeaders[] = {
${texts}};

}  // namespace

absl::Span<const Header> Headers() { return kHeaders; }
std::string_view HeadersDigest() { return \"${digest}\"; }

}  // namespace weft::rtc
")
