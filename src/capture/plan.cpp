#include "capture/plan.hpp"
