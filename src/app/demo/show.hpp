// The demo as a training program: it shows its network as any other would, through phosphene.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/demo/data_set.hpp"

namespace phosphene::demo {

struct ShowOptions {
  std::string address;          // of the server, as phosphene.hpp takes it
  std::uint64_t seed = 1;       // of the weights and of the order of the images
  std::int64_t steps = 0;       // stop after so many; 0: go on
  double steps_per_second = 0;  // at most; 0: as fast as it goes
};

/// Trains until `stopping` says so, which it is asked at every step and ten times a second while
/// waiting. Takes a core.
void train_and_show(DataSet data, const ShowOptions& options,
                    const std::function<bool()>& stopping);

}  // namespace phosphene::demo
