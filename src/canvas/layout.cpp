#include "canvas/layout.hpp"
