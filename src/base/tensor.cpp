#include "base/tensor.hpp"

namespace phosphene {

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kInt8:
      return "int8";
    case DType::kUInt8:
      return "uint8";
    case DType::kBool:
      return "bool";
    case DType::kInt64:
      return "int64";
    case DType::kLevels4:
      return "levels4";
  }
  return "unknown";
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kParameter:
      return "parameter";
    case Kind::kGradient:
      return "gradient";
    case Kind::kActivation:
      return "activation";
    case Kind::kFrame:
      return "frame";
  }
  return "unknown";
}

std::size_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 4;
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      return 1;
    case DType::kLevels4:
      return 0;
  }
  return 0;
}

}  // namespace phosphene
