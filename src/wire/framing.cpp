#include "wire/framing.hpp"
