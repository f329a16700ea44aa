/* phosphene.h from C11, against the shared library. */
#include <stdio.h>
#include <string.h>

#include "phosphene.h"

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

int main(void) {
  CHECK(strcmp(phosphene_version(), PHOSPHENE_VERSION) == 0);
  CHECK(strcmp(phosphene_last_error(), "") == 0);

  phosphene_session* session = NULL;
  phosphene_options options = {.struct_size = sizeof options, .address = "nowhere"};
  CHECK(phosphene_open(&options, &session) == PHOSPHENE_BAD_ARGUMENT);
  CHECK(session == NULL);
  CHECK(strstr(phosphene_last_error(), "nowhere") != NULL);

  /* A caller built against a shorter struct: what it does not have keeps its default. */
  options.struct_size = offsetof(phosphene_options, address);
  CHECK(phosphene_open(&options, &session) == PHOSPHENE_OK);
  phosphene_close(session);

  options.struct_size = sizeof options;
  options.address = "unix:/nonexistent/ingest.sock";
  CHECK(phosphene_open(&options, &session) == PHOSPHENE_OK);
  const float values[2][3] = {{0}};
  const int64_t shape[] = {2, 3};
  const phosphene_role roles[] = {PHOSPHENE_ROLE_OUT, PHOSPHENE_ROLE_IN};
  const phosphene_info info = {.name = "weight",
                               .kind = PHOSPHENE_PARAMETER,
                               .dtype = PHOSPHENE_FLOAT32,
                               .rank = 2,
                               .shape = shape,
                               .roles = roles};
  const phosphene_view view = {
      .data = values, .dtype = PHOSPHENE_FLOAT32, .rank = 2, .shape = shape};
  const uint32_t weight = phosphene_declare(session, &info);
  CHECK(weight != 0);
  CHECK(phosphene_declare(session, &info) == weight);
  CHECK(phosphene_bind(session, weight, &view) == PHOSPHENE_OK);
  CHECK(phosphene_wants(session, weight) == 0);
  CHECK(phosphene_capture(session, weight, &view) == PHOSPHENE_OK);
  for (uint64_t step = 0; step < 10; ++step) {
    phosphene_scalar(session, "loss", 1.0);
    phosphene_step(session, step);
  }
  phosphene_cost cost;
  phosphene_get_cost(session, &cost);
  CHECK(cost.steps == 10);
  CHECK(cost.connected == 0);
  CHECK(cost.frames_captured == 0);
  phosphene_close(session);
  return failures ? 1 : 0;
}
