/* phosphene.h: show a network while it trains. C11; no C++ and no protobuf types.
 *
 *   phosphene_session* cast = NULL;
 *   phosphene_open(NULL, &cast);
 *   uint32_t weight = phosphene_declare(cast, &info);
 *   phosphene_bind(cast, weight, &view);            // read at each step
 *   for (uint64_t step = 0; …; ++step) {
 *     train(); phosphene_scalar(cast, "loss", loss);
 *     phosphene_step(cast, step);
 *   }
 *   phosphene_close(cast);
 *
 * Nothing here blocks on the network, throws, or ends the process. While nobody watches, a step
 * costs one atomic load and a store. Every function accepts a null session and then does nothing,
 * so a failed open needs no care.
 *
 * Thread word: one session belongs to one thread, the trainer's; different sessions are
 * independent. In a process forked after phosphene_open() every call does nothing; open a session
 * there if it is to be shown.
 */
#ifndef PHOSPHENE_H
#define PHOSPHENE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PHOSPHENE_API __attribute__((visibility("default")))
#else
#define PHOSPHENE_API
#endif

/* Any number may be passed, and one that is unknown is refused: in C++ that takes a fixed type. */
#ifdef __cplusplus
#define PHOSPHENE_INT32 : int32_t
extern "C" {
#else
#define PHOSPHENE_INT32
#endif

typedef enum phosphene_status PHOSPHENE_INT32 {
  PHOSPHENE_OK = 0,
  PHOSPHENE_BAD_ARGUMENT = 1, /* phosphene_last_error() names it */
  PHOSPHENE_UNSUPPORTED = 2,  /* a dtype, rank or shape that cannot be shown */
  PHOSPHENE_DISABLED = 3,     /* PHOSPHENE_MODE=disabled: every call is a no-op */
  PHOSPHENE_FAILED = 4        /* out of memory or threads */
} phosphene_status;

typedef enum phosphene_kind PHOSPHENE_INT32 {
  PHOSPHENE_PARAMETER = 1,
  PHOSPHENE_GRADIENT = 2,
  PHOSPHENE_ACTIVATION = 3,
  PHOSPHENE_FRAME = 4 /* a picture of your own; rank 2, shown at 1:1 */
} phosphene_kind;

typedef enum phosphene_dtype PHOSPHENE_INT32 {
  PHOSPHENE_FLOAT32 = 1,
  PHOSPHENE_FLOAT64 = 2,
  PHOSPHENE_FLOAT16 = 3,
  PHOSPHENE_BFLOAT16 = 4,
  PHOSPHENE_INT8 = 5,
  PHOSPHENE_UINT8 = 6,
  PHOSPHENE_BOOL = 7,
  PHOSPHENE_INT64 = 8,
  PHOSPHENE_LEVELS4 =
      9 /* frames only: two levels a byte, the left in the high half, rows of (W+1)/2 bytes */
} phosphene_dtype;

/* What a dimension means. Declared, never guessed from sizes. */
typedef enum phosphene_role PHOSPHENE_INT32 {
  PHOSPHENE_ROLE_OTHER = 0,
  PHOSPHENE_ROLE_OUT = 1,   /* output units or channels of a weight */
  PHOSPHENE_ROLE_IN = 2,    /* input units or channels of a weight */
  PHOSPHENE_ROLE_DEPTH = 3, /* kernel or map */
  PHOSPHENE_ROLE_HEIGHT = 4,
  PHOSPHENE_ROLE_WIDTH = 5,
  PHOSPHENE_ROLE_BATCH = 6,   /* examples */
  PHOSPHENE_ROLE_CHANNEL = 7, /* channels or features of an activation */
  PHOSPHENE_ROLE_TOKEN = 8,   /* positions of a sequence */
  PHOSPHENE_ROLE_HEAD = 9     /* attention heads */
} phosphene_role;

#define PHOSPHENE_MAX_RANK 8

typedef struct phosphene_session phosphene_session;

/* Zero-initialise, set struct_size, then what differs from the defaults. */
typedef struct phosphene_options {
  size_t struct_size;  /* sizeof(phosphene_options) */
  const char* name;    /* of the run; default: the program's name */
  const char* run;     /* id, the same after a restart of the trainer; default: random */
  const char* address; /* "unix:PATH" or "tcp:HOST:PORT?token=TOKEN", as the server says it;
                          default: PHOSPHENE_ADDRESS, else the user's own socket */
  double budget; /* share of the step time that capturing may take, 0 … 1; 0: the default, 0.02; 1:
                    no limit */
} phosphene_options;

/* What a tensor is. Strings and arrays are copied. */
typedef struct phosphene_info {
  const char* name; /* UTF-8, e.g. "conv1.weight" */
  phosphene_kind kind;
  phosphene_dtype dtype;
  int32_t rank;                /* 0 … PHOSPHENE_MAX_RANK */
  const int64_t* shape;        /* rank elements */
  const phosphene_role* roles; /* rank elements, or NULL: all OTHER */
  uint32_t
      attached_to; /* id of the weight (same kind) whose outputs these values belong to; 0: none */
  double lo, hi;   /* frames: the range they are drawn in; equal: 0…256 for uint8, 0…16 for levels4,
                      else found from the values */
} phosphene_info;

/* Where a tensor's values lie. Not owned. */
typedef struct phosphene_view {
  const void* data;
  phosphene_dtype dtype;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides; /* in elements, may be 0 or negative; NULL: C order */
} phosphene_view;

/* What the hook cost this training so far. */
typedef struct phosphene_cost {
  uint64_t steps;
  uint64_t frames_captured;
  uint64_t frames_sent;
  uint64_t frames_dropped_queue;  /* the sender did not keep up */
  uint64_t frames_dropped_budget; /* captured less often, to stay within the budget */
  double total_us;                /* spent on the training thread */
  double last_capture_us;         /* by the latest step that captured */
  int32_t connected;              /* 0 or 1 */
  int32_t watched;                /* 0 or 1: somebody watches something */
} phosphene_cost;

/* Opens a session and returns at once; the connection is made, and made again, by a thread of its
 * own. `options` may be NULL. On failure *session is NULL. */
PHOSPHENE_API phosphene_status phosphene_open(const phosphene_options* options,
                                              phosphene_session** session);

/* Says what there is to see: at most 20,000 tensors with names of at most 512 bytes. Returns the
 * tensor's id, or 0 (phosphene_last_error() says why, and so does the page). The same name and kind
 * again: the same id, with the new shape and dtype, and nothing bound to it. */
PHOSPHENE_API uint32_t phosphene_declare(phosphene_session* session, const phosphene_info* info);

/* Has the tensor's values read at every phosphene_step() that captures. `view->data` must stay
 * valid until it is bound anew, unbound by a NULL view, or the session is closed. */
PHOSPHENE_API phosphene_status phosphene_bind(phosphene_session* session, uint32_t tensor,
                                              const phosphene_view* view);

/* 1 while this step captures the tensor, else 0: for values that do not last until the step, such
 * as activations. */
PHOSPHENE_API int phosphene_wants(phosphene_session* session, uint32_t tensor);

/* Quantises the values now, if this step captures the tensor. The view may go after the call.
 * Called again in the same step, the last one wins. A shape smaller than the declared one (a last
 * batch) leaves the other cells absent. */
PHOSPHENE_API phosphene_status phosphene_capture(phosphene_session* session, uint32_t tensor,
                                                 const phosphene_view* view);

/* phosphene_bind() and phosphene_capture() for `count` tensors in one call: for languages where
 * calls cost much. A tensor that is not wanted is passed over. What can be done is done; the status
 * is that of the first failure. phosphene_bind_many() with NULL views unbinds. */
PHOSPHENE_API phosphene_status phosphene_bind_many(phosphene_session* session, size_t count,
                                                   const uint32_t* tensors,
                                                   const phosphene_view* views);
PHOSPHENE_API phosphene_status phosphene_capture_many(phosphene_session* session, size_t count,
                                                      const uint32_t* tensors,
                                                      const phosphene_view* views);

/* A number of this step, such as "loss": drawn as a curve. At most 64 names of at most 128 bytes.
 */
PHOSPHENE_API void phosphene_scalar(phosphene_session* session, const char* name, double value);

/* Ends a step: reads what is bound, hands the frame over, decides whether the next step captures.
 * Scalars given since the last call belong to `step`. */
PHOSPHENE_API void phosphene_step(phosphene_session* session, uint64_t step);

/* Fills *cost; struct_size as in options is not needed: the struct only grows at its end with the
 * soname. */
PHOSPHENE_API void phosphene_get_cost(phosphene_session* session, phosphene_cost* cost);

/* Ends the run in order and frees the session. Waits at most 200 ms for what is queued. A process
 * that ends without it ends at once, and the page says that the run crashed. */
PHOSPHENE_API void phosphene_close(phosphene_session* session);

/* The latest error of this thread, one sentence; "" if none. Valid until the next call on this
 * thread. */
PHOSPHENE_API const char* phosphene_last_error(void);

/* "0.1.0" */
PHOSPHENE_API const char* phosphene_version(void);

#ifdef __cplusplus
}
#endif
#endif /* PHOSPHENE_H */
