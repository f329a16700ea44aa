/* A single layer learns ten signs drawn on 16×16 points: its weights turn into pictures of them.
 *
 *   build/phosphene serve &     # before or after: the hook finds it
 *   build/examples/train_c      # [STEPS], default: until Ctrl-C
 *
 * What is needed to watch a network is marked with "phosphene".
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "phosphene.h" /* phosphene */

enum { SIGNS = 10, SIDE = 16, POINTS = SIDE * SIDE, BATCH = 32 };

static float weight[SIGNS][POINTS], weight_gradient[SIGNS][POINTS];
static float bias[SIGNS], bias_gradient[SIGNS];
static float image[BATCH][POINTS];
static float probability[BATCH][SIGNS];

static const float learning_rate = 0.004f;
static const struct timespec pace = {0, 20 * 1000 * 1000}; /* for the eye */

static volatile sig_atomic_t stopped; /* Ctrl-C ends the run in order */
static void stop(int signal) {
  stopped = signal;
}

/* −1 … 1 */
static float noise(void) {
  return 2.0f * (float)rand() / (float)RAND_MAX - 1.0f;
}

/* Whether the sign has ink at (x, y), both −1 … 1. */
static int has_ink(int sign, float x, float y) {
  const float stroke = 0.2f, radius = sqrtf(x * x + y * y);
  switch (sign) {
    case 0:
      return fabsf(radius - 0.7f) < stroke; /* ring */
    case 1:
      return fabsf(x) < stroke; /* upright bar */
    case 2:
      return fabsf(y) < stroke; /* lying bar */
    case 3:
      return fabsf(x - y) < stroke; /* falling diagonal */
    case 4:
      return fabsf(x + y) < stroke; /* rising diagonal */
    case 5:
      return fabsf(x) < stroke || fabsf(y) < stroke; /* plus */
    case 6:
      return fabsf(fabsf(x) - fabsf(y)) < stroke; /* cross */
    case 7:
      return fabsf(fmaxf(fabsf(x), fabsf(y)) - 0.7f) < stroke; /* square */
    case 8:
      return radius < 0.4f; /* dot */
    default:
      return fabsf(fabsf(x) + fabsf(y) - 0.8f) < stroke; /* diamond */
  }
}

/* A sign, shifted a little, under heavy noise. */
static void draw(int sign, float* points) {
  const float shift_x = 0.15f * noise(), shift_y = 0.15f * noise();
  for (int p = 0; p < POINTS; ++p) {
    const float x = ((float)(p % SIDE) + 0.5f) * 2 / SIDE - 1;
    const float y = ((float)(p / SIDE) + 0.5f) * 2 / SIDE - 1;
    points[p] = (has_ink(sign, x - shift_x, y - shift_y) ? 1.0f : 0.0f) + 0.8f * noise();
  }
}

/* One batch forwards and backwards, and an update. Returns the mean cross entropy in nats. */
static double train_step(double* accuracy) {
  double loss = 0, right = 0;
  memset(weight_gradient, 0, sizeof weight_gradient);
  memset(bias_gradient, 0, sizeof bias_gradient);
  for (int b = 0; b < BATCH; ++b) {
    const int sign = rand() % SIGNS;
    draw(sign, image[b]);

    float logit[SIGNS], sum = 0;
    int best = 0;
    for (int k = 0; k < SIGNS; ++k) {
      logit[k] = bias[k];
      for (int p = 0; p < POINTS; ++p) logit[k] += weight[k][p] * image[b][p];
      if (logit[k] > logit[best]) best = k;
    }
    for (int k = 0; k < SIGNS; ++k) sum += probability[b][k] = expf(logit[k] - logit[best]);
    for (int k = 0; k < SIGNS; ++k) probability[b][k] /= sum;
    loss -= log(probability[b][sign] + 1e-12) / BATCH;
    right += best == sign ? 1.0 / BATCH : 0;

    for (int k = 0; k < SIGNS; ++k) {
      const float by_logit = (probability[b][k] - (k == sign ? 1.0f : 0.0f)) / BATCH;
      bias_gradient[k] += by_logit;
      for (int p = 0; p < POINTS; ++p) weight_gradient[k][p] += by_logit * image[b][p];
    }
  }
  for (int k = 0; k < SIGNS; ++k) {
    bias[k] -= learning_rate * bias_gradient[k];
    for (int p = 0; p < POINTS; ++p) weight[k][p] -= learning_rate * weight_gradient[k][p];
  }
  *accuracy = right;
  return loss;
}

/* phosphene: says what a tensor is, and where its values lie from now on. Returns its id. */
static uint32_t show(phosphene_session* cast, const char* name, phosphene_kind kind,
                     const float* data, int32_t rank, const int64_t* shape,
                     const phosphene_role* roles, uint32_t attached_to) {
  const phosphene_info info = {.name = name,
                               .kind = kind,
                               .dtype = PHOSPHENE_FLOAT32,
                               .rank = rank,
                               .shape = shape,
                               .roles = roles,
                               .attached_to = attached_to};
  const phosphene_view view = {
      .data = data, .dtype = PHOSPHENE_FLOAT32, .rank = rank, .shape = shape};
  const uint32_t id = phosphene_declare(cast, &info);
  phosphene_bind(cast, id, &view);
  return id;
}

int main(int argc, char** argv) {
  signal(SIGINT, stop);
  const long steps = argc > 1 ? atol(argv[1]) : 1000000000;

  /* phosphene: the weights of each sign are a picture, so that is what their dimensions are called.
   */
  phosphene_session* cast = NULL;
  const phosphene_options options = {.struct_size = sizeof options, .name = "signs"};
  if (phosphene_open(&options, &cast) != PHOSPHENE_OK)
    fprintf(stderr, "%s\n", phosphene_last_error());
  const int64_t pictures[] = {SIGNS, 1, SIDE, SIDE}, batch[] = {BATCH, 1, SIDE, SIDE};
  const int64_t outputs[] = {BATCH, SIGNS};
  const phosphene_role kernel[] = {PHOSPHENE_ROLE_OUT, PHOSPHENE_ROLE_IN, PHOSPHENE_ROLE_HEIGHT,
                                   PHOSPHENE_ROLE_WIDTH};
  const phosphene_role map[] = {PHOSPHENE_ROLE_BATCH, PHOSPHENE_ROLE_CHANNEL, PHOSPHENE_ROLE_HEIGHT,
                                PHOSPHENE_ROLE_WIDTH};
  const uint32_t w = show(cast, "weight", PHOSPHENE_PARAMETER, weight[0], 4, pictures, kernel, 0);
  show(cast, "bias", PHOSPHENE_PARAMETER, bias, 1, pictures, kernel, w);
  const uint32_t g =
      show(cast, "weight", PHOSPHENE_GRADIENT, weight_gradient[0], 4, pictures, kernel, 0);
  show(cast, "bias", PHOSPHENE_GRADIENT, bias_gradient, 1, pictures, kernel, g);
  show(cast, "input", PHOSPHENE_ACTIVATION, image[0], 4, batch, map, 0);
  show(cast, "probability", PHOSPHENE_ACTIVATION, probability[0], 2, outputs, map, 0);

  for (long step = 1; step <= steps && !stopped; ++step) {
    double accuracy = 0;
    const double loss = train_step(&accuracy);

    phosphene_scalar(cast, "loss", loss); /* phosphene */
    phosphene_scalar(cast, "accuracy", accuracy);
    phosphene_step(cast, (uint64_t)step);

    if (step % 100 == 0 || step == steps) {
      printf("step %ld: loss %.3f, accuracy %.0f %%\n", step, loss, 100 * accuracy);
      fflush(stdout);
    }
    thrd_sleep(&pace, NULL);
  }
  phosphene_close(cast); /* phosphene */
  return 0;
}
