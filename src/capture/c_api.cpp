#include "capture/phosphene.h"
extern "C" const char* phosphene_version(void) { return PHOSPHENE_VERSION; }
