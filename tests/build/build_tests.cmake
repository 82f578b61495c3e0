# Tests of the build itself.
