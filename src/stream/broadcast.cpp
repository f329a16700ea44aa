#include "stream/broadcast.hpp"
