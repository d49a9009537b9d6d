/* A main library of cuDNN 9 that opens its part by bare name, as the real one does: whose it gets, the loader decides. */
#include <dlfcn.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED size_t cudnnGetVersion(void) {
    dlopen("libcudnn_ops.so.9", RTLD_NOW);
    return 91002;
}

EXPORTED const char *cudnnGetErrorString(int status) {
    (void)status;
    return "";
}
