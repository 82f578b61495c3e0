// Nothing: what it is compiled with is the header that tests share (tests/CMakeLists.txt).
