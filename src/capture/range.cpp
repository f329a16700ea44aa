#include "capture/range.hpp"
