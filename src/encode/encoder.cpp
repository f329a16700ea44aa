#include "encode/encoder.hpp"
