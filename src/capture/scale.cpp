#include "capture/scale.hpp"
