// Macros that programs have before they include Weft: C programs' constants, and those of <windows.h>. The test
// headers_strict includes this, and then every header.
#define A 16
#define B 16
#define C 16
#define D 16
#define E 16
#define F 16
#define G 16
#define H 16
#define I 16
#define J 16
#define K 16
#define L 16
#define M 16
#define N 16
#define O 16
#define P 16
#define Q 16
#define R 16
#define S 16
#define T 16
#define U 16
#define V 16
#define W 16
#define X 16
#define Y 16
#define Z 16
#define near 16
#define far 16
#define small 16
#define huge 16
#define interface 16
#define hyper 16
#define IN 16
#define OUT 16
#define OPTIONAL 16
#define CONST 16
#define VOID 16
#define ERROR 16
#define TRUE 16
#define FALSE 16
#define DELETE 16
#define STRICT 16
#define ABSOLUTE 16
#define RELATIVE 16
#define TRANSPARENT 16
#define OPAQUE 16
#define DIFFERENCE 16
#define DOMAIN 16
#define OVERFLOW 16
#define UNDERFLOW 16
#define IGNORE 16
#define PASCAL 16
#define BYTE 16
#define WORD 16
#define BOOL 16
#define INT 16
#define UINT 16
#define FLOAT 16
#define CHAR 16
#define SHORT 16
#define LONG 16
#define HANDLE 16
#define THIS 16
#define major 16
#define minor 16
#define complex 16

// Where min and max are macros, the standard library's headers have to come first; Abseil's headers, which the rest
// of the macros above would break, are shielded from them by weft/layouts/base/abseil.hpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#include "weft/layouts/base/abseil.hpp"

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
