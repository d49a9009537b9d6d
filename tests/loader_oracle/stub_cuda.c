/* What a framework asks the driver before it opens CUDA's libraries: one device of compute capability 9.0. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int cuInit(unsigned flags) { return 0; }
SHOWN int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
SHOWN int cuDeviceGetCount(int *devices) { *devices = 1; return 0; }
SHOWN int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
SHOWN int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Stub", size); return 0; }
SHOWN int cuDeviceTotalMem_v2(unsigned long *bytes, int device) { *bytes = 1ul << 34; return 0; }
SHOWN int cuGetErrorName(int error, const char **name) { *name = "CUDA_ERROR_STUB"; return 0; }
SHOWN int cuGetErrorString(int error, const char **text) { *text = "a stub"; return 0; }

SHOWN int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1; /* the compute capability, major and minor */
    return 0;
}

static int other(void) { return 100; } /* CUDA_ERROR_NO_DEVICE */

SHOWN int cuGetProcAddress_v2(const char *name, void **address, int version, unsigned long flags, int *status)
{
    char second[256];
    void *self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    void *found = self ? dlsym(self, name) : 0;
    snprintf(second, sizeof second, "%s_v2", name);
    if (!found && self)
        found = dlsym(self, second);
    *address = found ? found : (void *)other;
    if (status)
        *status = 0;
    return 0;
}

SHOWN int cuGetProcAddress(const char *name, void **address, int version, unsigned long flags)
{
    return cuGetProcAddress_v2(name, address, version, flags, 0);
}
