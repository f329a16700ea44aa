// Built once for each instruction set, see meson.build. A template that is instantiated here must
// not be shared with the rest of the program, or the linker could give an AVX-512 copy of it to a
// CPU without: Eigen gets a namespace of its own, and nothing of the standard library that the
// compiler does not inline is used. tests/demo/isa_leak.py checks it.
#define Eigen PHOSPHENE_JOIN(Eigen_, PHOSPHENE_ISA)
#define PHOSPHENE_JOIN(a, b) PHOSPHENE_JOIN_(a, b)
#define PHOSPHENE_JOIN_(a, b) a##b
#define PHOSPHENE_TEXT(a) PHOSPHENE_TEXT_(a)
#define PHOSPHENE_TEXT_(a) #a

#include "app/demo/kernels.hpp"

#include <Eigen/Core>

namespace phosphene::demo {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using In = Eigen::Map<const Matrix>;
using Out = Eigen::Map<Matrix>;
using InVector = Eigen::Map<const Eigen::VectorXf>;
using OutVector = Eigen::Map<Eigen::VectorXf>;

/// Calls row(image row, column row, x0, x1, shift) for each row of an image as each kernel element
/// sees it: column pixels x0 … x1 lie over image pixels x0 + shift … x1 + shift, the others over
/// the padding.
template <typename Row>
inline void for_each_row(const ConvShape& shape, Row row) {
  const int margin = shape.kernel / 2;
  std::ptrdiff_t column = 0;
  for (int channel = 0; channel < shape.in; ++channel) {
    for (int ky = -margin; ky <= margin; ++ky) {
      for (int kx = -margin; kx <= margin; ++kx) {
        const int x0 = kx < 0 ? (-kx < shape.width ? -kx : shape.width) : 0;
        const int x1 = kx > 0 ? (kx < shape.width ? shape.width - kx : 0) : shape.width;
        for (int y = 0; y < shape.height; ++y, column += shape.width) {
          const bool inside = y + ky >= 0 && y + ky < shape.height;
          const std::ptrdiff_t image =
              (std::ptrdiff_t(channel) * shape.height + y + ky) * shape.width;
          row(image, column, x0, inside ? x1 : x0, kx);
        }
      }
    }
  }
}

/// One image (in, height, width) to columns (in·kernel·kernel, height·width).
void to_columns(const ConvShape& shape, const float* image, float* columns) {
  for_each_row(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to, int x0, int x1, int shift) {
    float* out = columns + to;
    for (int x = 0; x < x0; ++x) out[x] = 0;
    if (x1 > x0) {
      const float* in = image + from + shift;
      for (int x = x0; x < x1; ++x) out[x] = in[x];
    }
    for (int x = x1 > x0 ? x1 : x0; x < shape.width; ++x) out[x] = 0;
  });
}

/// The transpose of to_columns: adds each column element to the pixel it was taken from.
void add_columns(const ConvShape& shape, const float* columns, float* image) {
  for_each_row(shape, [&](std::ptrdiff_t to, std::ptrdiff_t from, int x0, int x1, int shift) {
    if (x1 <= x0) return;
    const float* in = columns + from;
    float* out = image + to + shift;
    for (int x = x0; x < x1; ++x) out[x] += in[x];
  });
}

void conv(const ConvShape& shape, const float* x, const float* w, const float* b, float* columns,
          float* y) {
  const int taps = shape.in * shape.kernel * shape.kernel, pixels = shape.height * shape.width;
  for (int example = 0; example < shape.batch; ++example) {
    to_columns(shape, x + std::ptrdiff_t(example) * shape.in * pixels, columns);
    Out out(y + std::ptrdiff_t(example) * shape.out * pixels, shape.out, pixels);
    out.noalias() = In(w, shape.out, taps) * In(columns, taps, pixels);
    out.colwise() += InVector(b, shape.out);
  }
}

void conv_backward(const ConvShape& shape, const float* x, const float* w, const float* dy,
                   float* columns, float* dw, float* db, float* dx) {
  const int taps = shape.in * shape.kernel * shape.kernel, pixels = shape.height * shape.width;
  Out weight_gradient(dw, shape.out, taps);
  OutVector bias_gradient(db, shape.out);
  weight_gradient.setZero();
  bias_gradient.setZero();
  for (int example = 0; example < shape.batch; ++example) {
    const In out_gradient(dy + std::ptrdiff_t(example) * shape.out * pixels, shape.out, pixels);
    to_columns(shape, x + std::ptrdiff_t(example) * shape.in * pixels, columns);
    weight_gradient.noalias() += out_gradient * In(columns, taps, pixels).transpose();
    bias_gradient += out_gradient.rowwise().sum();
    if (!dx) continue;
    Out(columns, taps, pixels).noalias() = In(w, shape.out, taps).transpose() * out_gradient;
    float* image = dx + std::ptrdiff_t(example) * shape.in * pixels;
    OutVector(image, shape.in * pixels).setZero();
    add_columns(shape, columns, image);
  }
}

void dense(const DenseShape& shape, const float* x, const float* w, const float* b, float* y) {
  Out out(y, shape.batch, shape.out);
  out.noalias() = In(x, shape.batch, shape.in) * In(w, shape.out, shape.in).transpose();
  out.rowwise() += InVector(b, shape.out).transpose();
}

void dense_backward(const DenseShape& shape, const float* x, const float* w, const float* dy,
                    float* dw, float* db, float* dx) {
  const In out_gradient(dy, shape.batch, shape.out);
  Out(dw, shape.out, shape.in).noalias() = out_gradient.transpose() * In(x, shape.batch, shape.in);
  OutVector(db, shape.out) = out_gradient.colwise().sum();
  if (dx) Out(dx, shape.batch, shape.in).noalias() = out_gradient * In(w, shape.out, shape.in);
}

void relu(std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = y[i] > 0 ? y[i] : 0;
}

void relu_backward(std::size_t count, const float* y, float* dy) {
  for (std::size_t i = 0; i < count; ++i) dy[i] = y[i] > 0 ? dy[i] : 0;
}

void max_pool(const PoolShape& shape, const float* x, float* y, std::uint8_t* winner) {
  const int height = shape.height / 2, width = shape.width / 2;
  for (int plane = 0; plane < shape.planes; ++plane) {
    for (int row = 0; row < height; ++row, y += width, winner += width) {
      const float* above = x + (std::ptrdiff_t(plane) * shape.height + 2 * row) * shape.width;
      const float* below = above + shape.width;
      for (int column = 0; column < width; ++column) {
        const float top =
            above[2 * column + 1] > above[2 * column] ? above[2 * column + 1] : above[2 * column];
        const float low =
            below[2 * column + 1] > below[2 * column] ? below[2 * column + 1] : below[2 * column];
        const int right = low > top ? below[2 * column + 1] > below[2 * column]
                                    : above[2 * column + 1] > above[2 * column];
        y[column] = low > top ? low : top;
        winner[column] = std::uint8_t((low > top ? 2 : 0) + right);
      }
    }
  }
}

void max_pool_backward(const PoolShape& shape, const std::uint8_t* winner, const float* dy,
                       float* dx) {
  const int height = shape.height / 2, width = shape.width / 2;
  OutVector(dx, std::ptrdiff_t(shape.planes) * shape.height * shape.width).setZero();
  for (int plane = 0; plane < shape.planes; ++plane) {
    for (int row = 0; row < height; ++row, dy += width, winner += width) {
      float* above = dx + (std::ptrdiff_t(plane) * shape.height + 2 * row) * shape.width;
      for (int column = 0; column < width; ++column) {
        above[(winner[column] / 2) * shape.width + 2 * column + winner[column] % 2] = dy[column];
      }
    }
  }
}

void adam(const AdamStep& step, std::size_t count, float* __restrict w, const float* __restrict g,
          float* __restrict m, float* __restrict v) {
  float power1 = 1, power2 = 1;  // beta^step, as far as float32 tells it from 0
  for (std::int64_t i = 0; i < step.step && (power1 > 1e-9f || power2 > 1e-9f); ++i) {
    power1 *= step.beta1;
    power2 *= step.beta2;
  }
  const float rate = step.learning_rate / (1 - power1), unbias2 = 1 / (1 - power2);
  const float keep = 1 - step.learning_rate * step.weight_decay;
  const float beta1 = step.beta1, beta2 = step.beta2, epsilon = step.epsilon;
  for (std::size_t i = 0; i < count; ++i) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    w[i] = keep * w[i] - rate * m[i] / (__builtin_sqrtf(unbias2 * v[i]) + epsilon);
  }
}

}  // namespace

extern const Kernels PHOSPHENE_JOIN(kKernels_, PHOSPHENE_ISA);
constinit const Kernels PHOSPHENE_JOIN(kKernels_, PHOSPHENE_ISA) = {
    .isa = PHOSPHENE_TEXT(PHOSPHENE_ISA),
    .conv = conv,
    .conv_backward = conv_backward,
    .dense = dense,
    .dense_backward = dense_backward,
    .relu = relu,
    .relu_backward = relu_backward,
    .max_pool = max_pool,
    .max_pool_backward = max_pool_backward,
    .adam = adam,
};

}  // namespace phosphene::demo
