// Every instruction set's kernels against the plainest loops that compute the same.
#include "app/demo/kernels.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace phosphene::demo {
namespace {

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = float(random() % 2001) / 1000 - 1;
  return values;
}

struct Slopes {
  std::vector<double> output, weight, bias, input;
};

/// y(e, o, p) = b(o) + Σ w(o, i, k) · x(e, i, p + k), and the slopes of Σ dy·y.
Slopes plain_convolution(const ConvShape& s, const std::vector<float>& x,
                         const std::vector<float>& w, const std::vector<float>& b,
                         const std::vector<float>& dy) {
  Slopes slopes{std::vector<double>(dy.size()), std::vector<double>(w.size()),
                std::vector<double>(b.size()), std::vector<double>(x.size())};
  const int margin = s.kernel / 2;
  for (int e = 0; e < s.batch; ++e)
    for (int o = 0; o < s.out; ++o)
      for (int y = 0; y < s.height; ++y)
        for (int column = 0; column < s.width; ++column) {
          const std::size_t at = ((std::size_t(e) * s.out + o) * s.height + y) * s.width + column;
          slopes.output[at] = b[o];
          slopes.bias[o] += dy[at];
          for (int i = 0; i < s.in; ++i)
            for (int ky = 0; ky < s.kernel; ++ky)
              for (int kx = 0; kx < s.kernel; ++kx) {
                const int from_y = y + ky - margin, from_x = column + kx - margin;
                if (from_y < 0 || from_y >= s.height || from_x < 0 || from_x >= s.width) continue;
                const std::size_t pixel =
                    ((std::size_t(e) * s.in + i) * s.height + from_y) * s.width + from_x;
                const std::size_t tap =
                    ((std::size_t(o) * s.in + i) * s.kernel + ky) * s.kernel + kx;
                slopes.output[at] += double(w[tap]) * x[pixel];
                slopes.weight[tap] += double(dy[at]) * x[pixel];
                slopes.input[pixel] += double(dy[at]) * w[tap];
              }
        }
  return slopes;
}

/// Nothing of `values` may be left as it was before: they begin as NaN.
void check_near(const std::vector<float>& values, const std::vector<double>& expected) {
  REQUIRE(values.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - expected[i]) / (1 + std::abs(expected[i]));
    worst = error <= worst ? worst : error;  // NaN stays
    if (std::isnan(error)) worst = error;
  }
  CHECK(worst < 1e-5);
}

TEST_CASE("a convolution and its slopes agree with plain loops on every instruction set") {
  const ConvShape shapes[] = {{1, 1, 1, 1, 1, 1}, {2, 1, 4, 8, 8, 5},  {3, 5, 7, 6, 9, 3},
                              {2, 3, 2, 2, 2, 5}, {1, 2, 3, 1, 13, 7}, {2, 32, 64, 14, 14, 3}};
  for (const Kernels* kernels : all_kernels()) {
    for (const ConvShape& shape : shapes) {
      CAPTURE(kernels->isa);
      CAPTURE(shape.in);
      const std::size_t pixels = std::size_t(shape.batch) * shape.height * shape.width;
      const auto x = random_values(pixels * shape.in, 1), dy = random_values(pixels * shape.out, 2);
      const auto w =
          random_values(std::size_t(shape.out) * shape.in * shape.kernel * shape.kernel, 3);
      const auto b = random_values(shape.out, 4);
      const Slopes expected = plain_convolution(shape, x, w, b, dy);

      std::vector<float> columns(shape.columns(), NAN), y(dy.size(), NAN), dw(w.size(), NAN),
          db(b.size(), NAN), dx(x.size(), NAN);
      kernels->conv(shape, x.data(), w.data(), b.data(), columns.data(), y.data());
      kernels->conv_backward(shape, x.data(), w.data(), dy.data(), columns.data(), dw.data(),
                             db.data(), dx.data());
      check_near(y, expected.output);
      check_near(dw, expected.weight);
      check_near(db, expected.bias);
      check_near(dx, expected.input);
    }
  }
}

TEST_CASE("a dense layer is a convolution over one pixel") {
  for (const Kernels* kernels : all_kernels()) {
    for (const DenseShape& shape :
         {DenseShape{1, 1, 1}, DenseShape{3, 17, 5}, DenseShape{33, 64, 47}}) {
      CAPTURE(kernels->isa);
      const auto x = random_values(std::size_t(shape.batch) * shape.in, 1);
      const auto w = random_values(std::size_t(shape.out) * shape.in, 2),
                 b = random_values(shape.out, 3);
      const auto dy = random_values(std::size_t(shape.batch) * shape.out, 4);
      const Slopes expected =
          plain_convolution({shape.batch, shape.in, shape.out, 1, 1, 1}, x, w, b, dy);

      std::vector<float> y(dy.size(), NAN), dw(w.size(), NAN), db(b.size(), NAN), dx(x.size(), NAN);
      kernels->dense(shape, x.data(), w.data(), b.data(), y.data());
      kernels->dense_backward(shape, x.data(), w.data(), dy.data(), dw.data(), db.data(),
                              dx.data());
      check_near(y, expected.output);
      check_near(dw, expected.weight);
      check_near(db, expected.bias);
      check_near(dx, expected.input);
    }
  }
}

TEST_CASE("pooling keeps the largest of four pixels and gives the slope to it alone") {
  const std::vector<float> x = {
      1, 5, 2,  0,  9,   //
      3, 4, 8,  7,  9,   //
      0, 0, -1, -2, 9,   //
      0, 6, -3, -4, 9,   //
      9, 9, 9,  9,  9};  // the odd last row and column belong to no window
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> y(4, NAN), dx(25, NAN);
    std::vector<std::uint8_t> winner(4);
    kernels->max_pool({1, 5, 5}, x.data(), y.data(), winner.data());
    CHECK(y == std::vector<float>{5, 8, 6, -1});
    CHECK(winner == std::vector<std::uint8_t>{1, 2, 3, 0});
    const std::vector<float> dy = {1, 2, 3, 4};
    kernels->max_pool_backward({1, 5, 5}, winner.data(), dy.data(), dx.data());
    CHECK(dx == std::vector<float>{0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 4,
                                   0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("ReLU and its slope clear what is not above 0") {
  for (const Kernels* kernels : all_kernels()) {
    for (std::size_t count = 0; count < 40; ++count) {
      auto y = random_values(count, 1), dy = random_values(count, 2);
      const auto x = y, upper = dy;
      kernels->relu(count, y.data());
      kernels->relu_backward(count, y.data(), dy.data());
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(y[i] == (x[i] > 0 ? x[i] : 0));
        CHECK(dy[i] == (x[i] > 0 ? upper[i] : 0));
      }
    }
  }
}

TEST_CASE("AdamW follows its formula, at the first step and at a late one") {
  for (const Kernels* kernels : all_kernels()) {
    for (const std::int64_t number : {1LL, 7LL, 10'000'000'000LL}) {
      AdamStep step;
      step.step = number;
      step.learning_rate = 0.01F;
      step.weight_decay = 0.1F;
      for (const std::size_t count : {1, 15, 16, 33}) {
        auto w = random_values(count, 1), m = random_values(count, 3), v = random_values(count, 4);
        const auto g = random_values(count, 2);
        for (float& square : v) square = std::abs(square);
        std::vector<double> expected;
        for (std::size_t i = 0; i < count; ++i) {
          const double mean = 0.9 * m[i] + 0.1 * g[i], square = 0.999 * v[i] + 0.001 * g[i] * g[i];
          const double fair_mean = mean / (1 - std::pow(0.9, double(number)));
          const double fair_square = square / (1 - std::pow(0.999, double(number)));
          expected.push_back(w[i] -
                             0.01 * (fair_mean / (std::sqrt(fair_square) + 1e-8) + 0.1 * w[i]));
        }
        kernels->adam(step, count, w.data(), g.data(), m.data(), v.data());
        for (std::size_t i = 0; i < count; ++i)
          CHECK(w[i] == doctest::Approx(expected[i]).epsilon(1e-4));
      }
    }
  }
}

}  // namespace
}  // namespace phosphene::demo
