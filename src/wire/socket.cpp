#include "wire/socket.hpp"
