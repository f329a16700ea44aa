#include "app/translate.hpp"

#include <doctest/doctest.h>

using namespace phosphene;
using namespace phosphene::app;

namespace {

v1::Scaling scaling_of(stream::View::Mode mode, stream::View::Shape shape) {
  stream::View view;
  view.mode = mode;
  view.shape = shape;
  return make_plan(1, view, {}, {}, {}).scaling();
}

}  // namespace

TEST_CASE("each mode starts with the scale that shows most") {
  using Mode = stream::View::Mode;
  using Shape = stream::View::Shape;
  const v1::Scaling parameters = scaling_of(Mode::kParameters, Shape::kDefault);
  CHECK(parameters.shape() == v1::SHAPE_SYMMETRIC);
  CHECK(parameters.magnitude_decades() == 1.5);
  CHECK(scaling_of(Mode::kGradients, Shape::kDefault).shape() == v1::SHAPE_LOG);
  CHECK(scaling_of(Mode::kActivations, Shape::kDefault).shape() == v1::SHAPE_AUTO);
}

TEST_CASE("who asks for a symmetric scale gets it, of magnitudes from 0 on") {
  const v1::Scaling scaling =
      scaling_of(stream::View::Mode::kParameters, stream::View::Shape::kSymmetric);
  CHECK(scaling.shape() == v1::SHAPE_SYMMETRIC);
  CHECK(scaling.magnitude_decades() == 0);
}
