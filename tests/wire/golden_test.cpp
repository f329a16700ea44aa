// libprotobuf against proto/golden: JSON → bytes → JSON. `golden_test --write DIRECTORY` writes the
// bytes anew.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "phosphene.pb.h"
#include "wire/framing.hpp"

using namespace phosphene;
namespace fs = std::filesystem;
namespace pb = google::protobuf;

namespace {

fs::path golden = PHOSPHENE_GOLDEN;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string to_hex(const std::string& bytes) {
  constexpr std::size_t kBytesALine = 32;
  std::string hex;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(bytes[i]);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
    hex += (i + 1) % kBytesALine == 0 || i + 1 == bytes.size() ? '\n' : ' ';
  }
  return hex;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  std::string digits;
  for (const char c : hex)
    if (!std::isspace(static_cast<unsigned char>(c))) digits += c;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::unique_ptr<pb::Message> empty_message(const std::string& kind) {
  if (kind == "from_hook") return std::make_unique<v1::FromHook>();
  if (kind == "to_hook") return std::make_unique<v1::ToHook>();
  if (kind == "from_page") return std::make_unique<v1::FromPage>();
  if (kind == "to_page") return std::make_unique<v1::ToPage>();
  if (kind == "facts") return std::make_unique<v1::Facts>();
  throw std::invalid_argument("no message is called " + kind);
}

// The messages of a vector, and whether they come as a stream.
struct Vector {
  std::string name;
  bool stream = false;
  std::vector<std::unique_ptr<pb::Message>> messages;

  explicit Vector(std::string called) : name(std::move(called)) {
    const std::size_t dot = name.find('.');
    stream = name.substr(0, dot) == "stream";
    const auto json = nlohmann::json::parse(contents(golden / (name + ".json")));
    for (const auto& message : stream ? json : nlohmann::json::array({json})) {
      messages.push_back(empty_message(stream ? name.substr(dot + 1) : name.substr(0, dot)));
      const auto status = pb::util::JsonStringToMessage(message.dump(), messages.back().get());
      if (!status.ok()) throw std::invalid_argument(name + ": " + status.ToString());
    }
  }

  std::string bytes() const {
    std::string all;
    for (const auto& message : messages) {
      std::string one;
      {
        pb::io::StringOutputStream stream_of_one(&one);
        pb::io::CodedOutputStream coded(&stream_of_one);
        coded.SetSerializationDeterministic(true);
        message->SerializeToCodedStream(&coded);
      }
      stream ? wire::append_message(all, one) : void(all += one);
    }
    if (stream) all += wire::kSentinel;
    return all;
  }
};

std::vector<Vector> vectors() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(golden))
    if (entry.path().extension() == ".json") names.insert(entry.path().stem());
  return {names.begin(), names.end()};
}

bool same(const pb::Message& a, const pb::Message& b) {
  pb::util::MessageDifferencer differencer;
  pb::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&comparator);
  return differencer.Compare(a, b);
}

// Every message that some vector holds, however deep, with the fields that are set there.
void collect(const pb::Message& message, std::set<std::string>& fields) {
  std::vector<const pb::FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  for (const pb::FieldDescriptor* field : set) {
    fields.insert(field->full_name());
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const pb::Reflection& reflection = *message.GetReflection();
    if (!field->is_repeated()) collect(reflection.GetMessage(message, field), fields);
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i)
      collect(reflection.GetRepeatedMessage(message, field, i), fields);
  }
}

}  // namespace

TEST_CASE("the JSON of every vector is written as its bytes") {
  for (const Vector& vector : vectors()) {
    CAPTURE(vector.name);
    CHECK(to_hex(vector.bytes()) == contents(golden / (vector.name + ".hex")));
  }
}

TEST_CASE("the bytes of every vector are read as its JSON") {
  for (const Vector& vector : vectors()) {
    CAPTURE(vector.name);
    const std::string bytes = from_hex(contents(golden / (vector.name + ".hex")));
    wire::FrameReader reader;
    reader.feed(bytes);
    for (const auto& expected : vector.messages) {
      std::string_view one = bytes;
      if (vector.stream) {
        const auto next = reader.next();
        REQUIRE(next);
        REQUIRE(*next);
        one = **next;
      }
      const std::unique_ptr<pb::Message> read(expected->New());
      REQUIRE(read->ParseFromArray(one.data(), static_cast<int>(one.size())));
      CHECK(same(*read, *expected));
      CHECK(read->GetReflection()->GetUnknownFields(*read).empty());
    }
    if (vector.stream) {
      CHECK_FALSE(*reader.next());
      CHECK(reader.closed());
    }
  }
}

TEST_CASE("every field of the protocol occurs in some vector") {
  std::set<std::string> seen;
  for (const Vector& vector : vectors())
    for (const auto& message : vector.messages) collect(*message, seen);
  const pb::FileDescriptor& file = *v1::Facts::descriptor()->file();
  for (int i = 0; i < file.message_type_count(); ++i) {
    for (int j = 0; j < file.message_type(i)->field_count(); ++j) {
      const std::string name = file.message_type(i)->field(j)->full_name();
      CAPTURE(name);
      CHECK(seen.count(name) == 1);
    }
  }
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--write") {
    golden = argv[2];
    for (const Vector& vector : vectors())
      std::ofstream(golden / (vector.name + ".hex"), std::ios::binary) << to_hex(vector.bytes());
    return 0;
  }
  return doctest::Context(argc, argv).run();
}
