#include "app/demo/data_set.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace phosphene::demo {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("phosphene-idx-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void images(const std::string& name, int count, int side) const {
    write(name, std::string("\0\0\x08\x03", 4) + number(count) + number(side) + number(side) +
                    std::string(std::size_t(count * side * side), '\x7f'));
  }
  void labels(const std::string& name, const std::string& labels) const {
    write(name, std::string("\0\0\x08\x01", 4) + number(int(labels.size())) + labels);
  }
  /// A set that can be loaded.
  void fill(int side = 12) const {
    images("train-images-idx3-ubyte", 3, side);
    labels("train-labels-idx1-ubyte", std::string("\0\1\2", 3));
    images("t10k-images-idx3-ubyte", 2, side);
    labels("t10k-labels-idx1-ubyte", std::string("\2\0", 2));
  }
  std::string complaint() const {
    const auto set = load_idx_folder(path_);
    return set ? "" : set.error().message;
  }

 private:
  static std::string number(int value) {
    return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
  }
  fs::path path_;
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the digits are within the program") {
  const DataSet digits = load_digits();
  CHECK(digits.height == 8);
  CHECK(digits.width == 8);
  CHECK(digits.classes == 10);
  CHECK(digits.train.count() == 1438);
  CHECK(digits.held_out.count() == 359);
  CHECK(digits.train.pixels.size() == 1438 * 64);
}

TEST_CASE("a folder of IDX files is a data set, under MNIST's names and their variations") {
  const Folder folder;
  folder.fill();
  fs::rename(folder.path() / "t10k-images-idx3-ubyte", folder.path() / "test-images.idx3-ubyte");
  const auto set = load_idx_folder(folder.path());
  REQUIRE(set);
  CHECK(set->height == 12);
  CHECK(set->classes == 3);
  CHECK(set->train.count() == 3);
  CHECK(set->held_out.labels == std::vector<std::uint8_t>{2, 0});
  CHECK(set->name == folder.path().filename().string());
}

TEST_CASE("what is wrong with a folder is said, and of which file") {
  const Folder folder;
  CHECK(says(load_idx_folder("/no/such/folder").error().message, "/no/such/folder"));
  CHECK(says(folder.complaint(), "train-images-idx3-ubyte"));

  folder.fill();
  fs::remove(folder.path() / "t10k-labels-idx1-ubyte");
  CHECK(says(folder.complaint(), "t10k-labels-idx1-ubyte"));
  folder.fill();
  folder.write("train-images-idx3-ubyte", "garbage");
  CHECK(says(folder.complaint(), "train-images-idx3-ubyte: not an IDX file"));
  folder.fill();
  folder.labels("train-labels-idx1-ubyte", "ab");
  CHECK(says(folder.complaint(), "3 images but 2 labels"));
  folder.fill();
  folder.images("t10k-images-idx3-ubyte", 2, 13);
  CHECK(says(folder.complaint(), "held-out images: they are 13×13"));
  folder.fill();
  folder.labels("t10k-labels-idx1-ubyte", std::string("\2\7", 2));
  CHECK(says(folder.complaint(), "label 7"));
  folder.fill();
  folder.labels("train-labels-idx1-ubyte", std::string(3, '\0'));
  CHECK(says(folder.complaint(), "one class"));
  folder.fill(7);
  CHECK(says(folder.complaint(), "7×7"));
  folder.fill(65);
  CHECK(says(folder.complaint(), "65×65"));
  folder.fill();
  folder.images("t10k-images-idx3-ubyte", 0, 12);
  folder.labels("t10k-labels-idx1-ubyte", "");
  CHECK(says(folder.complaint(), "there are none"));
}

TEST_CASE("a folder in the place of a file is an error") {
  const Folder folder;
  folder.fill();
  fs::remove(folder.path() / "train-labels-idx1-ubyte");
  fs::create_directory(folder.path() / "train-labels-idx1-ubyte");
  CHECK(says(folder.complaint(), "train-labels-idx1-ubyte"));
}

}  // namespace
}  // namespace phosphene::demo
