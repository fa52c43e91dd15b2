// What several kernels share. One block of threads works on one problem; numbers are double unless they say otherwise.

#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
#define BLOCK ((int)blockIdx.x)
#define LANE (THREAD & 31)
#define OF_BLOCK(i, n) (int i = THREAD; i < (n); i += THREADS)

typedef unsigned char Bool;
typedef long long Int64;

__device__ inline double clamped(double x, double low, double high) { return fmin(fmax(x, low), high); }

// The place of the pair i >= j of a symmetric matrix of which one half is stored.
__device__ inline int packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

// Sum over the values of all threads, to every thread. `space` holds 33 numbers.
__device__ inline double block_sum(double value, double* space) {
    for (int apart = 16; apart > 0; apart >>= 1) value += __shfl_xor_sync(0xffffffffu, value, apart);
    __syncthreads();
    if (LANE == 0) space[THREAD >> 5] = value;
    __syncthreads();
    if (THREAD < 32) {
        double total = THREAD < (THREADS + 31) / 32 ? space[THREAD] : 0.0;
        for (int apart = 16; apart > 0; apart >>= 1) total += __shfl_xor_sync(0xffffffffu, total, apart);
        if (THREAD == 0) space[32] = total;
    }
    __syncthreads();
    return space[32];
}

// Log density of Student's t, scaled to have the variance `var`; T_CONSTANT depends on the degrees of freedom alone.
#ifdef DOF
__device__ inline double student_t_log_density(double error, double var) {
    const double scale2 = var * ((DOF - 2.0) / DOF);
    return T_CONSTANT - 0.5 * log(scale2) - 0.5 * (DOF + 1.0) * log1p(error * error / (DOF * scale2));
}
#endif

// A symmetric positive definite matrix of up to GRID * TILE rows in the registers of GRID * GRID threads: thread
// (i, j) of that grid has the TILE * TILE numbers of rows i, i + GRID ... and columns j, j + GRID ...
#ifdef GRID
#define MOST_ROWS (GRID * TILE)
#define TILE_SPACE (4 * MOST_ROWS + 2)  // numbers of shared memory that the two functions below need
#define TILE_ROW(a) (THREAD / GRID + GRID * (a))
#define TILE_COLUMN(b) (THREAD % GRID + GRID * (b))

// The negative inverse, by Gauss-Jordan without pivots, which symmetric positive definite matrices do not need; the
// matrix stays symmetric. `solved` is a right-hand side, one number in each of the first `n` threads, and becomes
// inverse * it.
__device__ inline void negative_inverse(double (&a)[TILE][TILE], int n, double& solved, double* space) {
    const int row = THREAD / GRID, column = THREAD % GRID;
#pragma unroll
    for (int b = 0; b < TILE; ++b)
        for (int place = 0; place < GRID; ++place) {
            const int k = b * GRID + place;
            if (k >= n) break;
            double* pivots = space + (k & 1) * (MOST_ROWS + 1);  // two in turn: one wait a step is enough
            if (column == place)
#pragma unroll
                for (int i = 0; i < TILE; ++i) pivots[row + GRID * i] = a[i][b];
            if (THREAD == k) pivots[MOST_ROWS] = solved;
            __syncthreads();
            const double per_pivot = 1.0 / pivots[k];
            double above[TILE], left[TILE];
#pragma unroll
            for (int i = 0; i < TILE; ++i) {
                left[i] = pivots[row + GRID * i];
                above[i] = pivots[column + GRID * i] * per_pivot;
            }
            if (THREAD < n) {
                const double step = pivots[MOST_ROWS] * per_pivot;
                solved = THREAD == k ? step : solved - pivots[THREAD] * step;
            }
#pragma unroll
            for (int i = 0; i < TILE; ++i)
#pragma unroll
                for (int j = 0; j < TILE; ++j) a[i][j] -= left[i] * above[j];
            if (row == place)
#pragma unroll
                for (int j = 0; j < TILE; ++j) a[b][j] = above[j];
            if (column == place)
#pragma unroll
                for (int i = 0; i < TILE; ++i) a[i][b] = left[i] * per_pivot;
            if (row == place && column == place) a[b][b] = -per_pivot;
        }
    __syncthreads();
}

// W, lower triangular, with W' W the inverse: rows are eliminated below the pivot alone, which leaves L of A = L D L',
// inverted, and D on the diagonal.
__device__ inline void inverse_root(double (&a)[TILE][TILE], int n, double* space) {
    const int row = THREAD / GRID, column = THREAD % GRID;
#pragma unroll
    for (int b = 0; b < TILE; ++b)
        for (int place = 0; place < GRID; ++place) {
            const int k = b * GRID + place;
            if (k >= n) break;
            double* down = space + (k & 1) * (2 * MOST_ROWS);
            double* across = down + MOST_ROWS;
            if (column == place)
#pragma unroll
                for (int i = 0; i < TILE; ++i) down[row + GRID * i] = a[i][b];
            if (row == place)
#pragma unroll
                for (int j = 0; j < TILE; ++j) across[column + GRID * j] = a[b][j];
            __syncthreads();
            const double per_pivot = 1.0 / down[k];
#pragma unroll
            for (int i = b; i < TILE; ++i) {
                if (row + GRID * i <= k) continue;
                const double factor = down[row + GRID * i] * per_pivot;
#pragma unroll
                for (int j = 0; j < TILE; ++j) {
                    const double by = factor * across[column + GRID * j];
                    a[i][j] = column + GRID * j == k ? -factor : a[i][j] - by;
                }
            }
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i)
        if (row == column) space[row + GRID * i] = rsqrt(a[i][i]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i)
#pragma unroll
        for (int j = 0; j < TILE; ++j) {
            const int r = row + GRID * i, c = column + GRID * j;
            a[i][j] = r > c ? a[i][j] * space[r] : r == c ? space[r] : 0.0;
        }
    __syncthreads();
}
#endif
