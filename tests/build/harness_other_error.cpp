// Fails, but not with the sentence it expects: the harness has to notice.
// EXPECT: a sentence that is not there
static_assert(false, "another sentence");
