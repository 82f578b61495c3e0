// Two positions for one thread.
// EXPECT: static assertion failed: layouts: Partition\(view, threads, i\): the thread layout must
// number its positions
#include "weft/layouts/partition.hpp"

using namespace weft::layouts;

int memory[16];
auto bad = Partition(MakeTensorView(&memory[0], MakeLayout(MakeTuple(4, 4))),
                     MakeLayout(MakeTuple(kInt<2>, kInt<2>), MakeTuple(kInt<1>, kInt<1>)), 0);
