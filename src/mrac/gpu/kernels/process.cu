// Distances and covariances of points with FEATURES features, and what a process says of other points. See
// `mrac.gp.kernel` and `mrac.gp.posterior`.

template <class T> __device__ inline T distance(const T* a, const T* b) {
    T square = 0;
#pragma unroll
    for (int f = 0; f < FEATURES; ++f) square += (a[f] - b[f]) * (a[f] - b[f]);
    return sqrt(square);
}

template <class T> __device__ inline T covariance_at(T distance) {
    const T s = (T)SQRT3 * distance, fine = (T)FINE * s;
    return ((T)1 + s) * exp(-s) + (T)BIAS_VAR + (T)FINE_VAR * ((T)1 + fine) * exp(-fine);
}

// One thread takes one pair of N points `a` and M points `b` of each of Q sets.
#ifdef NUMBER
extern "C" __global__ void pairs(const NUMBER* a, const NUMBER* b, NUMBER* out, int N, int M, int total) {
    const int i = BLOCK * THREADS + THREAD;
    if (i >= total) return;
    const NUMBER apart = distance(a + (Int64)(i / M) * FEATURES, b + ((Int64)(i / M / N) * M + i % M) * FEATURES);
    out[i] = OF_DISTANCE(apart);
}
#endif

// One block takes 2 * THREADS of N nodes of one of Q processes, each thread two of them: mean and explained variance.
// The whitener is lower triangular.
#ifdef ROWS
struct alignas(8) Two { float x, y; };
struct alignas(16) Four { float x, y, z, w; };

extern "C" __global__ void predict(
    const float* nodes, const float* features, const Bool* there, const float* weights, const float* whitener,
    float* mean, float* explained, int N, int M, int blocks) {
    SHARED(Four, space);
    const int padded = (M + 3) / 4 * 4;
    float* rows = (float*)space;          // of the whitener, ROWS at a time
    float* points = rows + ROWS * padded;  // features of the readings, or none
    float* weight = points + padded * FEATURES;
    Two* between = (Two*)(weight + padded);
    const Int64 q = BLOCK / blocks, first = (Int64)(BLOCK % blocks) * 2 * THREADS + 2 * THREAD;
    for OF_BLOCK(i, padded * FEATURES) points[i] = i < M * FEATURES ? features[q * M * FEATURES + i] : 0.0f;
    for OF_BLOCK(j, padded) weight[j] = j < M && there[q * M + j] ? weights[q * M + j] : 0.0f;
    __syncthreads();
    float own[2][FEATURES];
    for (int n = 0; n < 2; ++n) {
        const Int64 node = first + n < N ? first + n : N - 1;
#pragma unroll
        for (int f = 0; f < FEATURES; ++f) own[n][f] = nodes[(q * N + node) * FEATURES + f];
    }
    float sum[2] = {0.0f, 0.0f}, square[2] = {0.0f, 0.0f};
    for (int j = 0; j < padded; ++j) {
        Two c = {0.0f, 0.0f};
        if (j < M && there[q * M + j]) {
            c.x = covariance_at(distance(own[0], points + j * FEATURES));
            c.y = covariance_at(distance(own[1], points + j * FEATURES));
        }
        between[j * THREADS + THREAD] = c;
        sum[0] += c.x * weight[j];
        sum[1] += c.y * weight[j];
    }
    for (int i = 0; i < M; i += ROWS) {
        const int end = min(i + ROWS, padded);
        __syncthreads();
        for OF_BLOCK(t, ROWS * padded) {
            const int r = i + t / padded, c = t % padded;
            rows[t] = r < M && c < M ? whitener[(q * M + r) * M + c] : 0.0f;
        }
        __syncthreads();
        float white[ROWS][2];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) white[r][0] = white[r][1] = 0.0f;
        for (int j = 0; j < end; j += 4) {
            const Two a = between[j * THREADS + THREAD], b = between[(j + 1) * THREADS + THREAD];
            const Two c = between[(j + 2) * THREADS + THREAD], d = between[(j + 3) * THREADS + THREAD];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const Four w = *(const Four*)(rows + r * padded + j);
                white[r][0] += w.x * a.x + w.y * b.x + w.z * c.x + w.w * d.x;
                white[r][1] += w.x * a.y + w.y * b.y + w.z * c.y + w.w * d.y;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            for (int n = 0; n < 2; ++n) square[n] += white[r][n] * white[r][n];
    }
    for (int n = 0; n < 2; ++n)
        if (first + n < N) {
            mean[q * N + first + n] = sum[n];
            explained[q * N + first + n] = square[n];
        }
}
#endif
