// Compiles although it says it must not: the harness has to notice.
// EXPECT: anything
