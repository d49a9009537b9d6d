// What both paths on the GPU compute besides convolutions, each in one pass over memory. One thread, one element.
// Arrays are contiguous float32 N,C,H,W; no array has 2^31 elements along one dimension, but it may have so in all.

#define ELEMENT(total)                                                                  \
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;                      \
    if (i >= (total)) return

extern "C" {

// Columns of a convolution: (channel, row, column of the filter) x (image, row, column of the output).
__global__ void im2col(const float *x, float *columns, long long total, int images, int channels, int height,
                       int width, int out_height, int out_width, int kernel, int stride, int padding)
{
    ELEMENT(total);
    long long rest = i;
    int out_column = rest % out_width; rest /= out_width;
    int out_row = rest % out_height; rest /= out_height;
    int image = rest % images; rest /= images;
    int column = rest % kernel; rest /= kernel;
    int row = rest % kernel; rest /= kernel;
    int channel = (int)rest;
    int h = out_row * stride - padding + row, w = out_column * stride - padding + column;
    int is_inside = h >= 0 && h < height && w >= 0 && w < width;
    columns[i] = is_inside ? x[(((long long)image * channels + channel) * height + h) * width + w] : 0.0f;
}

// The greatest value of every window, and its place in the window: row * kernel + column, the first of equal ones.
__global__ void max_pool(const float *x, float *y, unsigned char *place, long long total, int height, int width,
                         int out_height, int out_width, int kernel, int stride, int padding)
{
    ELEMENT(total);
    int top = (int)(i / out_width % out_height) * stride - padding;
    int left = (int)(i % out_width) * stride - padding;
    const float *plane = x + i / ((long long)out_height * out_width) * height * width;
    float best = -3.402823466e+38f;
    int found = 0;
    for (int row = 0; row < kernel; row++)
        for (int column = 0; column < kernel; column++) {
            int h = top + row, w = left + column;
            if (h < 0 || h >= height || w < 0 || w >= width) continue;
            float value = plane[(long long)h * width + w];
            if (value > best) { best = value; found = row * kernel + column; }
        }
    y[i] = best;
    place[i] = (unsigned char)found;
}

// Every input gathers from the windows that took it.
__global__ void max_pool_gradient(const float *dy, const unsigned char *place, float *dx, long long total, int height,
                                  int width, int out_height, int out_width, int kernel, int stride, int padding)
{
    ELEMENT(total);
    int h = (int)(i / width % height) + padding, w = (int)(i % width) + padding;
    long long plane = i / ((long long)height * width) * out_height * out_width;
    int first_row = h < kernel ? 0 : (h - kernel) / stride + 1, last_row = min(h / stride, out_height - 1);
    int first_column = w < kernel ? 0 : (w - kernel) / stride + 1, last_column = min(w / stride, out_width - 1);
    float sum = 0.0f;
    for (int row = first_row; row <= last_row; row++)
        for (int column = first_column; column <= last_column; column++) {
            long long window = plane + (long long)row * out_width + column;
            if (place[window] == (h - row * stride) * kernel + (w - column * stride)) sum += dy[window];
        }
    dx[i] = sum;
}

// y = x * scale^-beta, scale = k + share * sum of squares of the channels around.
__global__ void lrn(const float *x, float *y, float *scale, long long total, int channels, long long area, int reach,
                    float share, float beta, float k)
{
    ELEMENT(total);
    int channel = (int)(i / area % channels);
    float sum = 0.0f;
    for (int far = -reach; far <= reach; far++)
        if (channel + far >= 0 && channel + far < channels) {
            float value = x[i + far * area];
            sum += value * value;
        }
    float found = k + share * sum;
    scale[i] = found;
    y[i] = x[i] * powf(found, -beta);
}

__global__ void lrn_gradient(const float *x, const float *dy, const float *scale, float *dx, long long total,
                             int channels, long long area, int reach, float share, float beta)
{
    ELEMENT(total);
    int channel = (int)(i / area % channels);
    float sum = 0.0f;
    for (int far = -reach; far <= reach; far++)
        if (channel + far >= 0 && channel + far < channels) {
            long long other = i + far * area;
            sum += dy[other] * x[other] * powf(scale[other], -beta - 1.0f);
        }
    dx[i] = dy[i] * powf(scale[i], -beta) - 2.0f * share * beta * x[i] * sum;
}

__global__ void relu_gradient(const float *y, float *dy, long long total)
{
    ELEMENT(total);
    if (!(y[i] > 0.0f)) dy[i] = 0.0f;
}

__global__ void sgd(float *weights, const float *gradient, float *speed, long long total, float rate, float momentum,
                    float decay)
{
    ELEMENT(total);
    speed[i] = momentum * speed[i] + rate * (gradient[i] + decay * weights[i]);
    weights[i] -= speed[i];
}

__global__ void rmsprop(float *weights, const float *gradient, float *square, long long total, float rate, float decay,
                        float epsilon)
{
    ELEMENT(total);
    square[i] = decay * square[i] + (1.0f - decay) * gradient[i] * gradient[i];
    weights[i] -= rate * gradient[i] / (sqrtf(square[i]) + epsilon);
}

__global__ void adadelta(float *weights, const float *gradient, float *square, float *changes, long long total,
                         float rate, float decay, float epsilon)
{
    ELEMENT(total);
    square[i] = decay * square[i] + (1.0f - decay) * gradient[i] * gradient[i];
    float change = gradient[i] * sqrtf((changes[i] + epsilon) / (square[i] + epsilon));
    changes[i] = decay * changes[i] + (1.0f - decay) * change * change;
    weights[i] -= rate * change;
}

}
