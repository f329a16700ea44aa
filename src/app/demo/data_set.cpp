#include "app/demo/data_set.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "app/demo/digits.hpp"
#include "app/demo/idx.hpp"

namespace phosphene::demo {
namespace {

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";

struct Part {
  IdxArray images, labels;
};

Result<Images> pair(Part part, const DataSet& set, std::string_view what) {
  const auto failed = [&](std::string why) {
    return Error{"the " + std::string(what) + " images: " + std::move(why)};
  };
  const auto& shape = part.images.shape;
  if (shape[0] != part.labels.shape[0]) {
    return failed(std::to_string(shape[0]) + " images but " + std::to_string(part.labels.shape[0]) +
                  " labels");
  }
  if (shape[0] == 0) return failed("there are none");
  if (static_cast<int>(shape[1]) != set.height || static_cast<int>(shape[2]) != set.width) {
    return failed("they are " + std::to_string(shape[1]) + "×" + std::to_string(shape[2]) +
                  ", those for training " + std::to_string(set.height) + "×" +
                  std::to_string(set.width));
  }
  return Images{std::move(part.images.values), std::move(part.labels.values)};
}

Result<DataSet> assemble(std::string name, Part train, Part held_out) {
  DataSet set;
  set.name = std::move(name);
  const auto& shape = train.images.shape;
  for (const std::uint32_t side : {shape[1], shape[2]}) {
    if (side < kMinImageSide || side > kMaxImageSide) {
      return Error{"images of " + std::to_string(shape[1]) + "×" + std::to_string(shape[2]) +
                   ", where each side must be " + std::to_string(kMinImageSide) + " to " +
                   std::to_string(kMaxImageSide) + " pixels"};
    }
  }
  set.height = static_cast<int>(shape[1]);
  set.width = static_cast<int>(shape[2]);
  auto training = pair(std::move(train), set, "training");
  if (!training) return training.error();
  auto testing = pair(std::move(held_out), set, "held-out");
  if (!testing) return testing.error();
  set.train = std::move(*training);
  set.held_out = std::move(*testing);

  const auto largest = [](const std::vector<std::uint8_t>& values) {
    return *std::max_element(values.begin(), values.end());
  };
  set.brightest = std::max<int>(largest(set.train.pixels), 1);
  set.classes = largest(set.train.labels) + 1;
  if (set.classes < 2) return Error{"the training images are all of one class"};
  if (largest(set.held_out.labels) >= set.classes) {
    return Error{"a held-out image has the label " + std::to_string(largest(set.held_out.labels)) +
                 ", which no training image has"};
  }
  return set;
}

/// "train-images-idx3-ubyte" or one of its other names, with or without .gz.
Result<std::filesystem::path> find_file(const std::filesystem::path& folder,
                                        std::initializer_list<const char*> parts,
                                        std::string_view kind) {
  for (const char* part : parts) {
    for (const char* separator : {"-", "."}) {
      for (const char* ending : {"", ".gz"}) {
        const std::string rank = kind == "images" ? "idx3" : "idx1";
        auto path = folder / (std::string(part) + "-" + std::string(kind) + separator + rank +
                              "-ubyte" + ending);
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) return path;
      }
    }
  }
  return Error{folder.string() + ": no file " + *parts.begin() + "-" + std::string(kind) + "-" +
               (kind == "images" ? "idx3" : "idx1") + "-ubyte, nor with .gz"};
}

Result<Part> read_part(const std::filesystem::path& folder,
                       std::initializer_list<const char*> names) {
  Part part;
  const auto images = find_file(folder, names, "images");
  if (!images) return images.error();
  const auto labels = find_file(folder, names, "labels");
  if (!labels) return labels.error();
  auto pixels = read_idx(*images, 3);
  if (!pixels) return pixels.error();
  auto classes = read_idx(*labels, 1);
  if (!classes) return classes.error();
  return Part{std::move(*pixels), std::move(*classes)};
}

}  // namespace

Result<DataSet> load_idx_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return Error{folder.string() + ": no such folder"};
  auto train = read_part(folder, {"train"});
  if (!train) return train.error();
  auto held_out = read_part(folder, {"t10k", "test"});
  if (!held_out) return held_out.error();
  auto set = assemble(std::filesystem::weakly_canonical(folder, ignored).filename().string(),
                      std::move(*train), std::move(*held_out));
  if (!set) return Error{folder.string() + ": " + set.error().message};
  return set;
}

DataSet load_digits() {
  const auto read = [](std::span<const unsigned char> bytes, std::size_t rank) {
    return parse_idx(bytes, rank).value();
  };
  return assemble("digits", Part{read(digits::train_images, 3), read(digits::train_labels, 1)},
                  Part{read(digits::held_out_images, 3), read(digits::held_out_labels, 1)})
      .value();
}

Result<DataSet> load_default() {
  std::error_code ignored;
  if (!std::filesystem::is_directory(kFashionFolder, ignored)) return load_digits();
  auto set = load_idx_folder(kFashionFolder);
  if (set) set->name = "Fashion-MNIST";
  return set;
}

}  // namespace phosphene::demo
