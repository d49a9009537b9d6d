/* A stand-in for libcuda.so.1: cuInit returns what STUB_CUDA_INIT says. */
#include <stdlib.h>

#define API __attribute__((visibility("default")))

API int cuInit(unsigned flags) {
    const char *said = getenv("STUB_CUDA_INIT");
    const char *act = getenv("STUB_CUDA_ACT");
    (void)flags;
    if (act && *act == 'a') abort();
    while (act && *act == 'h') {}
    return said ? atoi(said) : 0;
}

API int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
API int cuDeviceGetCount(int *count) { *count = 1; return 0; }
API int cuGetErrorName(int error, const char **name) { *name = error == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR"; return 0; }
API int cuGetErrorString(int error, const char **text) { (void)error; *text = "stub"; return 0; }
