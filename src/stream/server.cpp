#include "stream/server.hpp"
