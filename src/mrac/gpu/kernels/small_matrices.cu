// One block of threads inverts one matrix of K rows; with `root`, what is written is the inverse Cholesky factor.
extern "C" __global__ void __launch_bounds__(GRID * GRID, 1) invert(const double* in, double* out, int K, int root) {
    SHARED(double, space);
    const long long start = (long long)BLOCK * K * K;
    double a[TILE][TILE], solved = 0.0;
#pragma unroll
    for (int i = 0; i < TILE; ++i)
#pragma unroll
        for (int j = 0; j < TILE; ++j) {
            const int r = TILE_ROW(i), c = TILE_COLUMN(j);
            a[i][j] = r < K && c < K ? in[start + r * K + c] : 0.0;
        }
    if (root) inverse_root(a, K, space);
    else negative_inverse(a, K, solved, space);
#pragma unroll
    for (int i = 0; i < TILE; ++i)
#pragma unroll
        for (int j = 0; j < TILE; ++j) {
            const int r = TILE_ROW(i), c = TILE_COLUMN(j);
            if (r < K && c < K) out[start + r * K + c] = root ? a[i][j] : -a[i][j];
        }
}
