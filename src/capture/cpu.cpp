#include "capture/cpu.hpp"
