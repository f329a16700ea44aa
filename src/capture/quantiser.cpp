#include "capture/quantiser.hpp"
