#include "capture/statistics.hpp"
