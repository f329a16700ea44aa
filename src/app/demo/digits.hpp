// data/digits/*.gz as they lie in the repository, within the program.
#pragma once

#include <span>

namespace phosphene::demo::digits {

extern const std::span<const unsigned char> train_images, train_labels, held_out_images,
    held_out_labels;

}  // namespace phosphene::demo::digits
