#include "networks.hpp"

#include <utility>

namespace phosphene::canvas {
namespace {

Role role_of(char letter) {
  switch (letter) {
    case 'O':
      return Role::kOut;
    case 'I':
      return Role::kIn;
    case 'D':
      return Role::kDepth;
    case 'H':
      return Role::kHeight;
    case 'W':
      return Role::kWidth;
    case 'B':
      return Role::kBatch;
    case 'C':
      return Role::kChannel;
    case 'T':
      return Role::kToken;
    case 'A':
      return Role::kHead;
    default:
      return Role::kOther;
  }
}

/// A weight with rows of one value an output.
void add_layer(std::vector<Tensor>& tensors, const std::string& name,
               std::vector<std::uint64_t> shape, std::string_view roles,
               std::initializer_list<std::string> attached = {"bias"}) {
  const std::uint64_t outputs = shape.front();
  const std::uint32_t id = add(tensors, name + ".weight", std::move(shape), roles);
  for (const std::string& row : attached) add(tensors, name + "." + row, {outputs}, "O", id);
}

Network small_cnn() {
  Network network{"small-cnn", {}};
  add_layer(network.tensors, "conv1", {32, 1, 5, 5}, "OIHW");
  add_layer(network.tensors, "conv2", {64, 32, 3, 3}, "OIHW");
  add_layer(network.tensors, "fc1", {256, 3136}, "OI");
  add_layer(network.tensors, "fc2", {256, 256}, "OI");
  add_layer(network.tensors, "fc3", {10, 256}, "OI");
  return network;
}

Network mlp() {
  Network network{"mlp", {}};
  add_layer(network.tensors, "fc1", {1000, 64}, "OI");
  add_layer(network.tensors, "fc2", {900, 1000}, "OI");
  add_layer(network.tensors, "fc3", {10, 900}, "OI");
  return network;
}

Network resnet18() {
  Network network{"resnet18", {}};
  const auto conv = [&](const std::string& name, std::uint64_t out, std::uint64_t in,
                        std::uint64_t side) {
    add_layer(network.tensors, name, {out, in, side, side}, "OIHW", {"norm.weight", "norm.bias"});
  };
  conv("conv1", 64, 3, 7);
  std::uint64_t in = 64;
  for (int stage = 1; stage <= 4; ++stage) {
    const std::uint64_t out = 32u << stage;
    for (int block = 0; block < 2; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      conv(name + ".conv1", out, in, 3);
      conv(name + ".conv2", out, out, 3);
      if (in != out) conv(name + ".downsample.0", out, in, 1);
      in = out;
    }
  }
  add_layer(network.tensors, "fc", {1000, 512}, "OI");
  return network;
}

Network transformer(const std::string& name, std::uint64_t vocabulary, std::uint64_t positions,
                    std::uint64_t width, int blocks, bool head) {
  Network network{name, {}};
  add(network.tensors, "wte.weight", {vocabulary, width}, "IO");
  add(network.tensors, "wpe.weight", {positions, width}, "IO");
  for (int block = 0; block < blocks; ++block) {
    const std::string prefix = "h." + std::to_string(block);
    add_layer(network.tensors, prefix + ".attn.qkv", {3 * width, width}, "OI");
    add_layer(network.tensors, prefix + ".attn.proj", {width, width}, "OI",
              {"bias", "norm.weight", "norm.bias"});
    add_layer(network.tensors, prefix + ".mlp.fc", {4 * width, width}, "OI");
    add_layer(network.tensors, prefix + ".mlp.proj", {width, 4 * width}, "OI",
              {"bias", "norm.weight", "norm.bias"});
  }
  if (head) add_layer(network.tensors, "head", {vocabulary, width}, "OI");
  return network;
}

Network thousand_blocks() {
  Network network{"thousand-blocks", {}};
  for (int block = 0; block < 1000; ++block)
    add_layer(network.tensors, "b" + std::to_string(block) + ".conv", {8, 8, 3, 3}, "OIHW",
              {"bias", "norm"});
  return network;
}

Network long_vector() {
  Network network{"long-vector", {}};
  add(network.tensors, "table", {1'000'000}, "O");
  add(network.tensors, "small", {3, 7}, "OI");
  return network;
}

}  // namespace

std::uint32_t add(std::vector<Tensor>& tensors, std::string name, std::vector<std::uint64_t> shape,
                  std::string_view roles, std::uint32_t attached_to, Kind kind) {
  Tensor tensor;
  tensor.id = static_cast<std::uint32_t>(tensors.size() + 1);
  tensor.name = std::move(name);
  tensor.kind = kind;
  tensor.shape = std::move(shape);
  for (const char letter : roles) tensor.roles.push_back(role_of(letter));
  tensor.attached_to = attached_to;
  tensors.push_back(std::move(tensor));
  return tensors.back().id;
}

std::vector<Network> seven_networks() {
  return {small_cnn(),
          mlp(),
          resnet18(),
          transformer("transformer", 1000, 256, 256, 6, true),
          transformer("gpt2-small", 50257, 1024, 768, 12, false),
          thousand_blocks(),
          long_vector()};
}

std::vector<Network> activations() {
  Network cnn{"activations-cnn", {}}, transformer{"activations-transformer", {}},
      odd{"activations-odd", {}};
  const auto put = [](Network& network, const std::string& name, std::vector<std::uint64_t> shape,
                      std::string_view roles) {
    add(network.tensors, name, std::move(shape), roles, 0, Kind::kActivation);
  };
  put(cnn, "conv1", {64, 32, 28, 28}, "BCHW");
  put(cnn, "conv2", {64, 64, 14, 14}, "BCHW");
  put(cnn, "fc1", {64, 256}, "BC");
  put(cnn, "fc2", {64, 256}, "BC");
  put(cnn, "fc3", {64, 10}, "BC");
  for (int block = 0; block < 3; ++block) {
    const std::string prefix = "h." + std::to_string(block);
    put(transformer, prefix + ".attn.scores", {16, 8, 64, 64}, "BATT");
    put(transformer, prefix + ".attn", {16, 64, 256}, "BTC");
    put(transformer, prefix + ".mlp", {16, 64, 1024}, "BTC");
  }
  put(odd, "nhwc", {28, 28, 28, 8}, "BHWC");
  put(odd, "hwbc", {28, 28, 28, 8}, "HWBC");
  put(odd, "large-maps", {2, 512, 56, 56}, "BCHW");
  put(odd, "one-example", {1, 16, 7, 7}, "BCHW");
  put(odd, "volume", {4, 8, 6, 10, 12}, "BCDHW");
  put(odd, "audio", {8, 32, 400}, "BCW");
  put(odd, "tokens", {32, 128}, "BT");
  put(odd, "heads", {4, 6, 50, 32}, "BATC");
  return {cnn, transformer, odd};
}

Network odd_shapes() {
  Network network{"odd-shapes", {}};
  auto& tensors = network.tensors;
  add(tensors, "scalar", {}, "");
  add(tensors, "empty", {0}, "O");
  add(tensors, "empty-rows", {0, 3}, "OI");
  add(tensors, "one", {1}, "O");
  add(tensors, "vector", {1000}, "O");
  add(tensors, "rank5", {3, 4, 5, 6, 7}, "-----");
  add(tensors, "rank6", {2, 3, 2, 5, 4, 3}, "------");
  add_layer(tensors, "rgb", {64, 3, 3, 3}, "OIHW");
  add_layer(tensors, "square", {64, 64, 3, 3}, "OIHW");
  add_layer(tensors, "pointwise", {1024, 1024, 1, 1}, "OIHW");
  add_layer(tensors, "flat-kernel", {64, 3, 1, 3}, "OIHW");
  add_layer(tensors, "depthwise", {32, 1, 3, 3}, "OIHW");
  add_layer(tensors, "conv1d", {48, 16, 5}, "OIW");
  add_layer(tensors, "conv3d", {16, 4, 3, 3, 3}, "OIDHW");
  const std::uint32_t id = add(tensors, "transposed.weight", {24, 12, 4, 4}, "IOHW");
  add(tensors, "transposed.bias", {12}, "O", id);
  add_layer(tensors, "single-output", {1, 256}, "OI");
  add_layer(tensors, "two-outputs", {2, 5000}, "OI");
  const std::uint32_t norm = add(tensors, "layernorm.weight", {768}, "O");
  add(tensors, "layernorm.bias", {768}, "O", norm);
  add(tensors, "embedding", {50000, 4096}, "IO");
  return network;
}

}  // namespace phosphene::canvas
