/* A driver's library with as many GPUs as STAND_IN_GPUS says, 2 by default. */
#include <stdlib.h>

__attribute__((visibility("default"))) int cuInit(unsigned int flags) { return flags ? 1 : 0; }
__attribute__((visibility("default"))) int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
__attribute__((visibility("default"))) int cuDeviceGetCount(int *count) {
    const char *text = getenv("STAND_IN_GPUS");
    *count = text ? atoi(text) : 2;
    return 0;
}
