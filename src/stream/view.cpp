#include "stream/view.hpp"
