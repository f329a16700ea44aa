#include "capture/tensor_view.hpp"
