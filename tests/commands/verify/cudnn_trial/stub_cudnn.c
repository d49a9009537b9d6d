/* A stand-in for cuDNN 5 to 9 that convolves on the host: what the tests have instead of a GPU.
 *
 * The prototypes are written out here; a slow test compiles this file with the real headers' included before it, so
 * that a type which differs is an error. It is one file for the main library (PART undefined) and for its parts.
 *
 * RELEASE is the number that cudnnGetVersion answers. STUB_CUDNN_FAULT injects what real copies do when something is
 * wrong: "abort@FUNCTION", "segv@", "sigbus@", "hang@", "slow:SECONDS@", "wrong@" (one number of the output is off),
 * "status:NUMBER@", "first:NUMBER@" (the first call alone), "no-engines@"; without "@FUNCTION" it strikes in the first function that looks.
 */
#ifdef REAL_HEADERS
#include <cudnn.h>
#if CUDNN_MAJOR >= 8
#include <cudnn_backend.h>
#endif
#else
#include <stddef.h>
#include <stdint.h>
typedef int cudnnStatus_t, cudnnDataType_t, cudnnTensorFormat_t, cudnnConvolutionMode_t, cudnnMathType_t;
typedef int cudnnConvolutionFwdAlgo_t, cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdFilterAlgo_t;
typedef struct cudnnContext *cudnnHandle_t;
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct {
    int algo, status;
    float time;
    size_t memory;
#if RELEASE >= 6000
    int determinism;
#if RELEASE >= 7000
    int mathType, reserved[3];
#else
    int reserved[4];
#endif
#endif
} perf_t;
typedef perf_t cudnnConvolutionFwdAlgoPerf_t, cudnnConvolutionBwdDataAlgoPerf_t, cudnnConvolutionBwdFilterAlgoPerf_t;
typedef void *cudnnBackendDescriptor_t;
typedef int cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t;
#define CUDNN_STATUS_SUCCESS 0
#endif
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define IS_9 (RELEASE >= 90000)
#define MAJOR (IS_9 ? RELEASE / 10000 : RELEASE / 1000)
#define MINOR (IS_9 ? RELEASE / 100 % 100 : RELEASE / 100 % 10)
#define PATCH (RELEASE % 100)
#define ENCODED (MAJOR << 16 | MINOR << 8 | PATCH) /* as the parts of 8 and 9 export it */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#ifdef PART /* ---------------------------------------------------------------------------------------- one part */

API int stub_release(void) { return RELEASE; }
#ifdef SYMBOL
API const int SYMBOL = ENCODED;
#endif

#else /* --------------------------------------------------------------------------------------- the main library */

enum { BAD_PARAM = IS_9 ? 2000 : 3, NOT_SUPPORTED = IS_9 ? 3000 : 9, MISSING = 3009, MIXED = IS_9 ? 1002 : 14 };
enum { FORWARD, BACKWARD_DATA, BACKWARD_FILTER };
enum { FLOAT = 0, DOUBLE = 1, HALF = 2, BFLOAT16 = 9 };
enum { IMPLICIT_GEMM, IMPLICIT_PRECOMP_GEMM, GEMM, DIRECT, FFT, FFT_TILING, WINOGRAD, WINOGRAD_NONFUSED };
#define MOST 8

API const char *stub_text = "cudnn_version_" TEXT(STUB_TEXT); /* what the libraries of 7 to 9 hold */

/* ---- what goes wrong on purpose */

static int is_struck(const char *kind, const char *function, const char **rest) {
    const char *fault = getenv("STUB_CUDNN_FAULT");
    size_t length = strlen(kind);
    if (!fault || strncmp(fault, kind, length)) return 0;
    const char *at = strchr(fault, '@');
    if (rest) *rest = fault + length;
    return !at || !strcmp(at + 1, function);
}

static int strike(const char *function) {
    const char *rest = "";
    if (is_struck("abort", function, NULL)) {
        fprintf(stderr, "stub: %s aborts\n", function);
        abort();
    }
    if (is_struck("segv", function, NULL)) raise(SIGSEGV);
    if (is_struck("sigbus", function, NULL)) raise(SIGBUS);
    if (is_struck("hang", function, NULL))
        for (;;) pause();
    if (is_struck("slow:", function, &rest)) usleep((useconds_t)(atof(rest) * 1e6));
    static int strikes;
    if (is_struck("first:", function, &rest)) return strikes++ ? 0 : atoi(rest);
    return is_struck("status:", function, &rest) ? atoi(rest) : 0;
}
#define MAY_FAIL                               \
    do {                                       \
        int struck_ = strike(__func__);        \
        if (struck_) return (cudnnStatus_t)struck_; \
    } while (0)

/* ---- the library */

static char last_error[256];
static int handles;

static cudnnStatus_t said(int status, const char *words) {
    snprintf(last_error, sizeof last_error, "%s", words);
    return (cudnnStatus_t)status;
}

API size_t cudnnGetVersion(void) {
    strike(__func__);
    return RELEASE;
}
API const char *cudnnGetErrorString(cudnnStatus_t status) {
    if ((int)status == BAD_PARAM) return "CUDNN_STATUS_BAD_PARAM";
    if ((int)status == NOT_SUPPORTED) return "CUDNN_STATUS_NOT_SUPPORTED";
    return status ? "CUDNN_STATUS of the stub" : "CUDNN_STATUS_SUCCESS";
}
#if RELEASE >= 6000
API size_t cudnnGetCudartVersion(void) { return STUB_CUDART; }
#endif
#if RELEASE >= 8000
API size_t cudnnGetMaxDeviceVersion(void) { return 900; }
#endif
#if IS_9
API void cudnnGetLastErrorString(char *message, size_t max_size) {
    snprintf(message, max_size, "%s", last_error);
    last_error[0] = 0;
}
#endif

#if RELEASE >= 8000
/* A part is opened by its bare name, as the real ones are, and asked for its release. */
static cudnnStatus_t check_part(const char *part) {
    char name[64];
    snprintf(name, sizeof name, "libcudnn_%s.so.%d", part, MAJOR);
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        if (IS_9) return said(MISSING, dlerror());
        fprintf(stderr, "Could not load library %s. Error: %s\n", name, dlerror());
        abort();
    }
    int (*release)(void) = (int (*)(void))dlsym(opened, "stub_release");
    return release && release() == RELEASE ? CUDNN_STATUS_SUCCESS : said(MIXED, name);
}
#define CHECK(NAME, PART_NAME)           \
    API cudnnStatus_t cudnn##NAME##VersionCheck(void) { \
        MAY_FAIL;                        \
        return check_part(PART_NAME);    \
    }
#endif
#if IS_9
CHECK(Graph, "graph")
CHECK(Ops, "ops")
CHECK(Cnn, "cnn")
CHECK(Adv, "adv")
#elif RELEASE >= 8000
CHECK(OpsInfer, "ops_infer")
CHECK(OpsTrain, "ops_train")
CHECK(CnnInfer, "cnn_infer")
CHECK(CnnTrain, "cnn_train")
CHECK(AdvInfer, "adv_infer")
CHECK(AdvTrain, "adv_train")
#endif

API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    MAY_FAIL;
    *handle = (cudnnHandle_t)malloc(8);
    handles++;
    return CUDNN_STATUS_SUCCESS;
}
API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    MAY_FAIL;
    if (!handle || handles-- <= 0) return said(BAD_PARAM, "no such handle");
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}
API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    MAY_FAIL;
    (void)stream;
    return handle ? CUDNN_STATUS_SUCCESS : said(BAD_PARAM, "no handle");
}

/* ---- descriptors */

typedef struct {
    int type, dims, size[MOST];
    long stride[MOST];
} array_t; /* a tensor, or a filter */

typedef struct {
    int dims, padding[MOST], stride[MOST], dilation[MOST], groups, compute;
} conv_t;

#define DESCRIPTOR(KIND, STRUCT)                                                           \
    API cudnnStatus_t cudnnCreate##KIND##Descriptor(cudnn##KIND##Descriptor_t *made) {     \
        MAY_FAIL;                                                                          \
        *made = (cudnn##KIND##Descriptor_t)calloc(1, sizeof(STRUCT));                      \
        return CUDNN_STATUS_SUCCESS;                                                       \
    }                                                                                      \
    API cudnnStatus_t cudnnDestroy##KIND##Descriptor(cudnn##KIND##Descriptor_t made) {     \
        MAY_FAIL;                                                                          \
        free(made);                                                                        \
        return CUDNN_STATUS_SUCCESS;                                                       \
    }
DESCRIPTOR(Tensor, array_t)
DESCRIPTOR(Filter, array_t)
DESCRIPTOR(Convolution, conv_t)

static int is_known(int type) { return type == FLOAT || type == DOUBLE || type == HALF || (type == BFLOAT16 && RELEASE >= 8100); }

API cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int dims, const int size[], const int stride[]) {
    MAY_FAIL;
    array_t *one = (array_t *)tensor;
    if (!is_known(type) || dims < 4 || dims > 5) return said(BAD_PARAM, "tensor");
    one->type = type;
    one->dims = dims;
    for (int i = 0; i < dims; i++) {
        if (size[i] < 1 || stride[i] < 1) return said(BAD_PARAM, "size or stride");
        one->size[i] = size[i];
        one->stride[i] = stride[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

API cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type, cudnnTensorFormat_t format, int dims, const int size[]) {
    MAY_FAIL;
    array_t *one = (array_t *)filter;
    if (!is_known(type) || dims < 4 || dims > 5 || (int)format > 1) return said(BAD_PARAM, "filter");
    one->type = type;
    one->dims = dims;
    long step = 1;
    for (int i = 0; i < dims; i++) one->size[i] = size[i];
    if (format == 1) step = size[1]; /* NHWC: channels innermost */
    for (int i = dims - 1; i >= 0; i--) {
        if (format == 1 && i == 1) continue;
        one->stride[i] = step;
        step *= size[i];
    }
    if (format == 1) one->stride[1] = 1;
    return CUDNN_STATUS_SUCCESS;
}

API cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int dims, const int padding[], const int stride[], const int dilation[], cudnnConvolutionMode_t mode, cudnnDataType_t compute) {
    MAY_FAIL;
    conv_t *one = (conv_t *)convolution;
    if (dims < 2 || dims > 3 || mode != 1) return said(BAD_PARAM, "convolution");
    one->dims = dims;
    one->groups = 1;
    one->compute = compute;
    for (int i = 0; i < dims; i++) {
        if (padding[i] < 0 || stride[i] < 1 || dilation[i] < 1) return said(BAD_PARAM, "padding, stride or dilation");
        if (RELEASE < 6000 && dilation[i] != 1) return said(BAD_PARAM, "upscale must be 1");
        one->padding[i] = padding[i];
        one->stride[i] = stride[i];
        one->dilation[i] = dilation[i];
    }
    return CUDNN_STATUS_SUCCESS;
}
#if RELEASE >= 7000
API cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
    MAY_FAIL;
    (void)convolution;
    return (int)math <= (RELEASE >= 8000 ? 3 : 2) ? CUDNN_STATUS_SUCCESS : said(BAD_PARAM, "math type");
}
API cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
    MAY_FAIL;
    ((conv_t *)convolution)->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}
#endif

static int out_size(const conv_t *c, const array_t *x, const array_t *w, int axis) {
    int i = axis - 2;
    return (x->size[axis] + 2 * c->padding[i] - c->dilation[i] * (w->size[axis] - 1) - 1) / c->stride[i] + 1;
}

API cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t input, const cudnnFilterDescriptor_t filter, int dims, int output[]) {
    MAY_FAIL;
    const conv_t *c = (const conv_t *)convolution;
    const array_t *x = (const array_t *)input, *w = (const array_t *)filter;
    if (dims != x->dims || w->size[1] * c->groups != x->size[1]) return said(BAD_PARAM, "shapes");
    output[0] = x->size[0];
    output[1] = w->size[0];
    for (int i = 2; i < dims; i++) output[i] = out_size(c, x, w, i);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- convolving: everything as doubles, three spatial dimensions */

static double to_double(const void *data, long i, int type) {
    uint32_t bits;
    float value;
    if (type == DOUBLE) return ((const double *)data)[i];
    if (type == FLOAT) return ((const float *)data)[i];
    if (type == HALF) {
        _Float16 half;
        memcpy(&half, (const uint16_t *)data + i, 2);
        return (double)half;
    }
    bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    memcpy(&value, &bits, 4);
    return value;
}

static void from_double(void *data, long i, int type, double value) {
    float single = (float)value;
    uint32_t bits;
    if (type == DOUBLE) {
        ((double *)data)[i] = value;
    } else if (type == FLOAT) {
        ((float *)data)[i] = single;
    } else if (type == HALF) {
        _Float16 half = (_Float16)value;
        memcpy((uint16_t *)data + i, &half, 2);
    } else {
        memcpy(&bits, &single, 4);
        ((uint16_t *)data)[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
}

typedef struct {
    int size[5]; /* N or K, C, and three spatial ones, the first of them 1 where there are two */
    double *values;
} box_t;

static long volume(const int size[5]) {
    long found = 1;
    for (int i = 0; i < 5; i++) found *= size[i];
    return found;
}

static long place(const array_t *one, const int at[5]) {
    long found = at[0] * one->stride[0] + at[1] * one->stride[1];
    for (int i = 2; i < one->dims; i++) found += at[i + 5 - one->dims] * one->stride[i];
    return found;
}

/* Each element once, in C order: read into the box (back NULL), or written back. */
static void each(const array_t *one, box_t *box, const void *data, void *back, double alpha, double beta) {
    int at[5];
    long k = 0;
    for (at[0] = 0; at[0] < box->size[0]; at[0]++)
        for (at[1] = 0; at[1] < box->size[1]; at[1]++)
            for (at[2] = 0; at[2] < box->size[2]; at[2]++)
                for (at[3] = 0; at[3] < box->size[3]; at[3]++)
                    for (at[4] = 0; at[4] < box->size[4]; at[4]++, k++) {
                        long i = place(one, at);
                        if (!back) box->values[k] = to_double(data, i, one->type);
                        else from_double(back, i, one->type, alpha * box->values[k] + (beta ? beta * to_double(back, i, one->type) : 0));
                    }
}

static box_t boxed(const array_t *one, const void *data) {
    box_t box = {{one->size[0], one->size[1], 1, 1, 1}, NULL};
    for (int i = 2; i < one->dims; i++) box.size[i + 5 - one->dims] = one->size[i];
    box.values = calloc((size_t)volume(box.size), sizeof(double));
    if (data) each(one, &box, data, NULL, 1, 0);
    return box;
}

static void spread(const conv_t *c, int padding[3], int stride[3], int dilation[3]) {
    for (int i = 0; i < 3; i++) {
        int j = i - (3 - c->dims);
        padding[i] = j < 0 ? 0 : c->padding[j];
        stride[i] = j < 0 ? 1 : c->stride[j];
        dilation[i] = j < 0 ? 1 : c->dilation[j];
    }
}

/* One tap of one pair of channels on one plane: y += x * w, x += y * w or w += x * y. */
static void plane(int direction, const conv_t *c, box_t *x, box_t *w, box_t *y, const int tap[3], double *xs, double *tap_value, double *ys) {
    int p[3], s[3], l[3];
    spread(c, p, s, l);
    double value = *tap_value, sum = 0;
    for (int a = 0; a < y->size[2]; a++) {
        int d = a * s[0] + tap[0] * l[0] - p[0];
        if (d < 0 || d >= x->size[2]) continue;
        for (int b = 0; b < y->size[3]; b++) {
            int h = b * s[1] + tap[1] * l[1] - p[1];
            if (h < 0 || h >= x->size[3]) continue;
            double *row = xs + ((long)d * x->size[3] + h) * x->size[4];
            double *out = ys + ((long)a * y->size[3] + b) * y->size[4];
            for (int e = 0; e < y->size[4]; e++) {
                int v = e * s[2] + tap[2] * l[2] - p[2];
                if (v < 0 || v >= x->size[4]) continue;
                if (direction == FORWARD) out[e] += row[v] * value;
                else if (direction == BACKWARD_DATA) row[v] += out[e] * value;
                else sum += row[v] * out[e];
            }
        }
    }
    if (direction == BACKWARD_FILTER) *tap_value += sum;
    (void)w;
}

static void convolve(int direction, const conv_t *c, box_t *x, box_t *w, box_t *y) {
    int per_group = w->size[0] / c->groups;
    long xp = volume(x->size) / x->size[0] / x->size[1], yp = volume(y->size) / y->size[0] / y->size[1];
    for (int n = 0; n < x->size[0]; n++)
        for (int k = 0; k < w->size[0]; k++)
            for (int i = 0; i < w->size[1]; i++) {
                int channel = k / per_group * w->size[1] + i, tap[3];
                double *xs = x->values + ((long)n * x->size[1] + channel) * xp;
                double *ys = y->values + ((long)n * y->size[1] + k) * yp;
                double *ws = w->values + ((long)k * w->size[1] + i) * w->size[2] * w->size[3] * w->size[4];
                for (tap[0] = 0; tap[0] < w->size[2]; tap[0]++)
                    for (tap[1] = 0; tap[1] < w->size[3]; tap[1]++)
                        for (tap[2] = 0; tap[2] < w->size[4]; tap[2]++) plane(direction, c, x, w, y, tap, xs, ws++, ys);
            }
}

/* ---- algorithms */

static size_t workspace_of(int algorithm) {
    return algorithm == IMPLICIT_GEMM ? 0 : algorithm == GEMM ? 1 << 20 : 4096;
}

static int is_winograd(int direction, int algorithm) {
    return direction == FORWARD ? algorithm >= WINOGRAD : direction == BACKWARD_DATA ? algorithm == 4 || algorithm == 5 : algorithm == 4 || algorithm == 5;
}

static int is_fft(int direction, int algorithm) {
    if (direction == FORWARD) return algorithm == FFT || algorithm == FFT_TILING;
    if (direction == BACKWARD_DATA) return algorithm == 2 || algorithm == 3;
    return algorithm == 2 || algorithm == 6;
}

static int algorithms_of(int direction) { return direction == FORWARD ? 8 : direction == BACKWARD_DATA ? 6 : 7; }

/* Much as the real ones are choosy: transforms take plain 2D problems of fp32 and fp16, nothing takes DIRECT. */
static int takes(int direction, int algorithm, const conv_t *c, const array_t *x, const array_t *w) {
    if (algorithm < 0 || algorithm >= algorithms_of(direction)) return BAD_PARAM;
    if (direction == FORWARD && algorithm == DIRECT) return NOT_SUPPORTED;
    if (!is_fft(direction, algorithm) && !is_winograd(direction, algorithm)) return 0;
    for (int i = 0; i < c->dims; i++)
        if (c->stride[i] != 1 || c->dilation[i] != 1) return BAD_PARAM;
    int is_square = x->dims == 4 && w->size[2] == w->size[3];
    if (c->groups != 1 || !is_square || (x->type != FLOAT && x->type != HALF)) return NOT_SUPPORTED;
    return is_winograd(direction, algorithm) && w->size[2] != 3 && w->size[2] != 5 ? NOT_SUPPORTED : 0;
}

static double scalar(const void *value, int type) {
    return type == DOUBLE ? *(const double *)value : (double)*(const float *)value;
}

typedef struct {
    const array_t *x, *w, *y;
    const void *given[2];
    void *out;
} operands_t;

static void compute(int direction, int algorithm, const conv_t *c, const operands_t *o, double alpha, double beta, const char *function) {
    const void *data[3] = {NULL, NULL, NULL}; /* of x, w, y */
    int out = direction == FORWARD ? 2 : direction == BACKWARD_DATA ? 0 : 1;
    for (int i = 0, next = 0; i < 3; i++) {
        int which = direction == BACKWARD_DATA ? (i == 0 ? 1 : i == 1 ? 2 : 0) : i;
        if (which != out) data[which] = o->given[next++];
    }
    box_t x = boxed(o->x, data[0]), w = boxed(o->w, data[1]), y = boxed(o->y, data[2]);
    convolve(direction, c, &x, &w, &y);
    box_t *result = out == 0 ? &x : out == 1 ? &w : &y;
    const array_t *into = out == 0 ? o->x : out == 1 ? o->w : o->y;
    if (is_fft(direction, algorithm) || is_winograd(direction, algorithm)) /* a transform rounds */
        for (long i = 0; i < volume(result->size); i++) result->values[i] *= 1 + 1e-6;
    if (is_struck("wrong", function, NULL)) result->values[volume(result->size) / 2] += 99;
    each(into, result, NULL, o->out, alpha, beta);
    free(x.values);
    free(w.values);
    free(y.values);
}

#define PASS(NAME, DIRECTION, ALGO, A_DESC, A_KIND, B_DESC, B_KIND, O_DESC, O_KIND, X, W, Y)                          \
    API cudnnStatus_t cudnnGetConvolution##NAME##WorkspaceSize(                                                       \
        cudnnHandle_t handle, const A_KIND A_DESC, const B_KIND B_DESC, const cudnnConvolutionDescriptor_t conv,      \
        const O_KIND O_DESC, cudnnConvolution##ALGO##Algo_t algo, size_t *size) {                                     \
        MAY_FAIL;                                                                                                     \
        (void)handle, (void)A_DESC, (void)B_DESC, (void)O_DESC;                                                       \
        int refused = takes(DIRECTION, (int)algo, (const conv_t *)conv, (const array_t *)X, (const array_t *)W);      \
        if (refused) return said(refused, "this algorithm does not take it");                                        \
        *size = workspace_of((int)algo);                                                                              \
        return CUDNN_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                 \
    API cudnnStatus_t cudnnConvolution##NAME(                                                                         \
        cudnnHandle_t handle, const void *alpha, const A_KIND A_DESC, const void *a, const B_KIND B_DESC,             \
        const void *b, const cudnnConvolutionDescriptor_t conv, cudnnConvolution##ALGO##Algo_t algo, void *workspace, \
        size_t size, const void *beta, const O_KIND O_DESC, void *out) {                                              \
        MAY_FAIL;                                                                                                     \
        const array_t *x = (const array_t *)X;                                                                        \
        operands_t all = {x, (const array_t *)W, (const array_t *)Y, {a, b}, out};                                    \
        int refused = takes(DIRECTION, (int)algo, (const conv_t *)conv, x, all.w);                                    \
        if (!handle || (!workspace && workspace_of((int)algo)) || size < workspace_of((int)algo)) refused = BAD_PARAM; \
        if (refused) return said(refused, "handle, workspace or algorithm");                                          \
        compute(DIRECTION, (int)algo, (const conv_t *)conv, &all, scalar(alpha, x->type), scalar(beta, x->type),      \
                __func__);                                                                                            \
        return CUDNN_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                 \
    API cudnnStatus_t cudnnFindConvolution##NAME##AlgorithmEx(                                                        \
        cudnnHandle_t handle, const A_KIND A_DESC, const void *a, const B_KIND B_DESC, const void *b,                 \
        const cudnnConvolutionDescriptor_t conv, const O_KIND O_DESC, void *out, const int asked, int *came,          \
        cudnnConvolution##ALGO##AlgoPerf_t *results, void *workspace, size_t size) {                                  \
        MAY_FAIL;                                                                                                     \
        (void)a, (void)b, (void)out, (void)A_DESC, (void)B_DESC, (void)O_DESC, (void)workspace;                                                   \
        if (!handle) return said(BAD_PARAM, "no handle");                                                             \
        LIST(DIRECTION, X, W, size)                                                                                   \
    }                                                                                                                 \
    HEURISTIC(NAME, DIRECTION, ALGO, A_DESC, A_KIND, B_DESC, B_KIND, O_DESC, O_KIND, X, W)

/* Fastest first, as if measured: those with more workspace are faster, those that are refused come last. */
#define LIST(DIRECTION, X, W, SIZE)                                                                         \
    *came = 0;                                                                                              \
    for (int refused_ones = 0; refused_ones < 2; refused_ones++)                                            \
        for (int i = algorithms_of(DIRECTION) - 1; i >= 0 && *came < asked; i--) {                          \
            int refused = takes(DIRECTION, i, (const conv_t *)conv, (const array_t *)X, (const array_t *)W); \
            if (!refused && workspace_of(i) > (SIZE)) refused = IS_9 ? 4004 : 2;                            \
            if ((refused != 0) != refused_ones) continue;                                                   \
            memset(results + *came, 0, sizeof *results);                                                    \
            memcpy(&results[*came].algo, &i, sizeof i);                                                     \
            memcpy(&results[*came].status, &refused, sizeof refused);                                       \
            results[*came].time = refused ? -1.0f : 1.0f - 0.1f * (float)i;                                 \
            results[*came].memory = workspace_of(i);                                                        \
            ++*came;                                                                                        \
        }                                                                                                   \
    return CUDNN_STATUS_SUCCESS;

#if RELEASE >= 7000
#define HEURISTIC(NAME, DIRECTION, ALGO, A_DESC, A_KIND, B_DESC, B_KIND, O_DESC, O_KIND, X, W)                    \
    API cudnnStatus_t cudnnGetConvolution##NAME##Algorithm_v7(                                                    \
        cudnnHandle_t handle, const A_KIND A_DESC, const B_KIND B_DESC, const cudnnConvolutionDescriptor_t conv,  \
        const O_KIND O_DESC, const int asked, int *came, cudnnConvolution##ALGO##AlgoPerf_t *results) {           \
        MAY_FAIL;                                                                                                 \
        (void)handle, (void)A_DESC, (void)B_DESC, (void)O_DESC;                                                                 \
        LIST(DIRECTION, X, W, (size_t)-1)                                                                         \
    }
#else
#define HEURISTIC(...)
#endif

PASS(Forward, FORWARD, Fwd, x_desc, cudnnTensorDescriptor_t, w_desc, cudnnFilterDescriptor_t, y_desc, cudnnTensorDescriptor_t, x_desc, w_desc, y_desc)
PASS(BackwardData, BACKWARD_DATA, BwdData, w_desc, cudnnFilterDescriptor_t, dy_desc, cudnnTensorDescriptor_t, dx_desc, cudnnTensorDescriptor_t, dx_desc, w_desc, dy_desc)
PASS(BackwardFilter, BACKWARD_FILTER, BwdFilter, x_desc, cudnnTensorDescriptor_t, dy_desc, cudnnTensorDescriptor_t, dw_desc, cudnnFilterDescriptor_t, x_desc, dw_desc, dy_desc)

/* ---- the graph API: attributes are kept as they come; two engines, one of them for tensor cores, and a fallback */

#if RELEASE >= 8000
typedef struct attribute {
    int name, type;
    int64_t how_many;
    void *values;
    struct attribute *next;
} attribute_t;

typedef struct {
    int kind, is_final, engine;
    const void *operation; /* of an engine's configuration */
    attribute_t *attributes;
} backend_t;

enum { K_CONVOLUTION = 1, K_ENGINE, K_CONFIG, K_HEURISTIC, K_PLAN, K_FORWARD = 10, K_FILTER, K_DATA, K_GRAPH = 15, K_PACK, K_TENSOR };
enum { T_DATA_TYPE = 1, T_INT64 = 3, T_FLOAT, T_DOUBLE, T_POINTER, T_MODE, T_HEURISTIC, T_NOTE = 11, T_DESCRIPTOR = 15, T_CHAR = 24 };

static size_t size_of(int type) {
    if (type == T_CHAR) return 1;
    return type == T_DATA_TYPE || type == T_FLOAT || type == T_MODE || type == T_HEURISTIC || type == T_NOTE ? 4 : 8;
}

static attribute_t *attribute(const void *descriptor, int name) {
    attribute_t *one = ((const backend_t *)descriptor)->attributes;
    while (one && one->name != name) one = one->next;
    return one;
}

static void *pointer(const void *descriptor, int name, int64_t i) {
    attribute_t *one = attribute(descriptor, name);
    return one && i < one->how_many ? ((void **)one->values)[i] : NULL;
}

static int64_t number(const void *descriptor, int name, int64_t i) {
    attribute_t *one = attribute(descriptor, name);
    if (!one || i >= one->how_many) return -1;
    return size_of(one->type) == 4 ? ((int32_t *)one->values)[i] : ((int64_t *)one->values)[i];
}

API cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t *made) {
    MAY_FAIL;
    backend_t *one = calloc(1, sizeof *one);
    one->kind = (int)kind;
    *made = (cudnnBackendDescriptor_t)one;
    return CUDNN_STATUS_SUCCESS;
}

API cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    MAY_FAIL;
    backend_t *one = (backend_t *)descriptor;
    for (attribute_t *at = one->attributes, *next; at; at = next) {
        next = at->next;
        free(at->values);
        free(at);
    }
    free(one);
    return CUDNN_STATUS_SUCCESS;
}

API cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t how_many, const void *values) {
    MAY_FAIL;
    backend_t *one = (backend_t *)descriptor;
    if (!one || one->is_final || how_many < 1 || !values) return said(BAD_PARAM, "attribute");
    attribute_t *made = calloc(1, sizeof *made);
    size_t bytes = (size_t)how_many * size_of((int)type);
    made->name = (int)name;
    made->type = (int)type;
    made->how_many = how_many;
    made->values = malloc(bytes);
    memcpy(made->values, values, bytes);
    made->next = one->attributes;
    one->attributes = made;
    return CUDNN_STATUS_SUCCESS;
}

static const int *required(int kind) {
    static const int convolution[] = {100, 101, 102, 103, 104, 105, 106, 0}, heuristic[] = {200, 201, 0}, plan[] = {401, 0};
    static const int forward[] = {700, 701, 702, 703, 704, 705, 0}, data[] = {706, 707, 708, 709, 710, 711, 0};
    static const int filter[] = {712, 713, 714, 715, 716, 717, 0}, graph[] = {801, 0}, pack[] = {1000, 1001, 1003, 0};
    static const int tensor[] = {900, 901, 902, 903, 906, 0}, nothing[] = {0};
    switch (kind) {
        case K_CONVOLUTION: return convolution;
        case K_HEURISTIC: return heuristic;
        case K_PLAN: return plan;
        case K_FORWARD: return forward;
        case K_DATA: return data;
        case K_FILTER: return filter;
        case K_GRAPH: return graph;
        case K_PACK: return pack;
        case K_TENSOR: return tensor;
    }
    return nothing;
}

API cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    MAY_FAIL;
    backend_t *one = (backend_t *)descriptor;
    for (const int *name = required(one->kind); *name; name++)
        if (!attribute(one, *name)) return said(BAD_PARAM, "an attribute is missing");
    if (one->kind == K_GRAPH && attribute(one, 800) && !pointer(one, 800, 0)) return said(BAD_PARAM, "no handle");
    if (one->kind == K_HEURISTIC && IS_9) {
        static const char *const opened[] = {"heuristic", "engines_precompiled", "engines_runtime_compiled"};
        int is_jit = check_part(opened[0]) && check_part(opened[1]); /* which has neither of the first two */
        for (int i = is_jit ? 2 : 0; i < 3; i++)
            if (check_part(opened[i])) {
                fprintf(stderr, "Unable to load any of {libcudnn_%s.so.9}\n", opened[i]);
                return said(1008, "ptrDesc->finalize()");
            }
    }
    one->is_final = 1;
    return CUDNN_STATUS_SUCCESS;
}

API cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room, int64_t *came, void *values) {
    MAY_FAIL;
    (void)type;
    const backend_t *one = (const backend_t *)descriptor;
    *came = 1;
    if (one->kind == K_HEURISTIC && name == 202) {
        *came = number(one, 200, 0) == 2 ? 1 : 2; /* the fallback has one engine, the usual mode two */
        if (is_struck("no-engines", __func__, NULL)) {
            *came = 0;
            return CUDNN_STATUS_SUCCESS;
        }
        for (int64_t i = 0; i < *came && i < room; i++) {
            backend_t *config = ((backend_t **)values)[i];
            config->engine = *came == 1 ? 2 : (int)i;
            config->operation = pointer(pointer(one, 201, 0), 801, 0);
            config->is_final = 1;
        }
    } else if (one->kind == K_CONFIG && name == 300) {
        (*(backend_t **)values)->engine = one->engine;
    } else if (one->kind == K_ENGINE && name == 1301) {
        *(int64_t *)values = one->engine;
    } else if (one->kind == K_ENGINE && name == 1303) {
        *came = one->engine == 1;
        if (*came) *(int32_t *)values = 0; /* TENSOR_CORE */
    } else if (one->kind == K_PLAN && name == 402) {
        *(int64_t *)values = ((const backend_t *)pointer(one, 401, 0))->engine * 4096;
    } else {
        return said(BAD_PARAM, "no such attribute");
    }
    return CUDNN_STATUS_SUCCESS;
}

static array_t described(const void *tensor) {
    array_t one = {(int)number(tensor, 901, 0), (int)attribute(tensor, 902)->how_many, {0}, {0}};
    for (int i = 0; i < one.dims; i++) {
        one.size[i] = (int)number(tensor, 902, i);
        one.stride[i] = (long)number(tensor, 903, i);
    }
    return one;
}

static void *data_of(const void *pack, const void *tensor) {
    for (int64_t i = 0; i < attribute(pack, 1000)->how_many; i++)
        if (number(pack, 1000, i) == number(tensor, 906, 0)) return pointer(pack, 1001, i);
    return NULL;
}

API cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
    MAY_FAIL;
    const void *operation = ((const backend_t *)pointer((const void *)plan, 401, 0))->operation;
    if (!handle || !operation) return said(BAD_PARAM, "no handle or no operation");
    int kind = ((const backend_t *)operation)->kind;
    int first = kind == K_FORWARD ? 700 : kind == K_DATA ? 706 : 712;
    /* where x, w and y stand after the first: W X Y, W DX DY, DW X DY */
    const void *tensors[3] = {pointer(operation, first + 4, 0), pointer(operation, first + 3, 0), pointer(operation, first + 5, 0)};
    const void *conv = pointer(operation, first + 2, 0);
    array_t x = described(tensors[0]), w = described(tensors[1]), y = described(tensors[2]);
    conv_t c = {(int)number(conv, 106, 0), {0}, {0}, {0}, x.size[1] / w.size[1], 0};
    for (int i = 0; i < c.dims; i++) {
        c.dilation[i] = (int)number(conv, 102, i);
        c.stride[i] = (int)number(conv, 103, i);
        c.padding[i] = (int)number(conv, 104, i);
    }
    void *at[3] = {data_of((const void *)pack, tensors[0]), data_of((const void *)pack, tensors[1]), data_of((const void *)pack, tensors[2])};
    if (!at[0] || !at[1] || !at[2]) return said(BAD_PARAM, "a tensor has no data");
    int direction = kind == K_FORWARD ? FORWARD : kind == K_DATA ? BACKWARD_DATA : BACKWARD_FILTER;
    operands_t all = {&x, &w, &y, {direction == BACKWARD_DATA ? at[1] : at[0], direction == FORWARD ? at[1] : at[2]}, direction == FORWARD ? at[2] : direction == BACKWARD_DATA ? at[0] : at[1]};
    compute(direction, IMPLICIT_GEMM, &c, &all, 1, 0, __func__);
    return CUDNN_STATUS_SUCCESS;
}
#endif
#endif
