#include <nanobind/nanobind.h>

NB_MODULE(_weft, module) { module.attr("__version__") = WEFT_PYTHON_VERSION; }
