// What a user's policies are written with: this header is enough for a file that only declares them.
#pragma once

#include "weft/conv/policy/policy.hpp"
