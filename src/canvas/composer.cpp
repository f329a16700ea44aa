#include "canvas/composer.hpp"
