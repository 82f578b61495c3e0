// Lists are of matrix products.
// EXPECT: template constraint failure for
// MAX_ERRORS: 2
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/conv/ready_made.hpp"

using Op = weft::gemm::ListedFamily<weft::conv::S8Conv32Family<>>;
