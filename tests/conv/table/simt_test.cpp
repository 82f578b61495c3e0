#include "tests/conv/table/simt_rows.hpp"  // on the CPU
