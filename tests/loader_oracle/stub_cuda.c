/* What a framework asks the driver before it opens CUDA's libraries: one device of compute capability 9.0.
   STUB_CUDA_INIT is what cuInit answers, STUB_CUDA_VERSION the CUDA that the driver serves (12080). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

static int said(const char *name, int usual)
{
    const char *text = getenv(name);
    return text ? atoi(text) : usual;
}

SHOWN int cuInit(unsigned flags) { return said("STUB_CUDA_INIT", 0); }
SHOWN int cuDriverGetVersion(int *version) { *version = said("STUB_CUDA_VERSION", 12080); return 0; }
SHOWN int cuDeviceGetCount(int *devices) { *devices = 1; return 0; }
SHOWN int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
SHOWN int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Stub", size); return 0; }
SHOWN int cuDeviceTotalMem_v2(unsigned long *bytes, int device) { *bytes = 1ul << 34; return 0; }

static const struct { int number; const char *name, *text; } errors[] = {
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
    {0, "CUDA_ERROR_STUB", "a stub"},
};

static int entry(int error)
{
    int found = 0;
    while (errors[found].number && errors[found].number != error)
        found++;
    return found;
}

SHOWN int cuGetErrorName(int error, const char **name) { *name = errors[entry(error)].name; return 0; }
SHOWN int cuGetErrorString(int error, const char **text) { *text = errors[entry(error)].text; return 0; }

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
