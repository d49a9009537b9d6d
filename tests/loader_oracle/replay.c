/* A library that calls dlopen for another one: the loader looks at the search path of who calls. */
#include <dlfcn.h>

__attribute__((visibility("default"))) const char *replay(const char *name)
{
    return dlopen(name, RTLD_LAZY) ? "opened" : dlerror();
}
