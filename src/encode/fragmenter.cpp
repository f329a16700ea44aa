#include "encode/fragmenter.hpp"
