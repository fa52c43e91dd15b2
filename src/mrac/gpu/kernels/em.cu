// EM of the mixture model; see `mrac.gpu.mixture.Models.em`. One block takes one hypothesis through all its rounds: the
// covariance is built and inverted in registers, reading t belongs to thread t.

struct Model {
    const double *smooth, *common, *error, *in_range, *sentinel, *counts;
    const Int64* members;
    const Bool *there, *dense;
    const Int64* which;
};

__device__ inline double uniform(double residual, double low, double high) {
    return FLOOR + (1.0 / (high - low) - FLOOR) * (residual > low && residual < high ? 1.0 : 0.0);
}

// Residual of each reading in a dense cluster given those that are not left out with it, and its variance: one warp
// takes one reading. The block of the inverse of its members, itself the last, and their part of inverse * error; after
// forward elimination the last row holds 1 / variance and residual / variance.
__device__ inline void leave_clusters_out(
    const Model& model, const double* inverse, const double* solved, double* work, int workers, int D, int M,
    double* residual, double* var) {
    const int ld = M + 1, warp = THREAD >> 5;
    double* a = work + (long long)warp * M * ld;
    if (warp < workers)
        for (int d = warp; d < D; d += workers) {
            if (!model.dense[d]) continue;
            const Int64* own = model.members + (long long)d * M;
            const Bool* meant = model.there + (long long)d * M;
            for (int i = LANE; i < M * ld; i += 32) {
                const int r = i / ld, c = i % ld;
                double v = r == c ? 1.0 : 0.0;
                if (c == M) v = meant[r] ? solved[own[r]] : 0.0;
                else if (meant[r] && meant[c]) v = inverse[packed((int)own[r], (int)own[c])];
                a[i] = v;
            }
            __syncwarp();
            for (int k = 0; k + 1 < M; ++k) {
                const double pivot = 1.0 / a[k * ld + k];
                const int height = M - 1 - k, width = M - k;
                for (int i = LANE; i < height * width; i += 32) {
                    const int r = k + 1 + i / width, c = k + 1 + i % width;
                    a[r * ld + c] -= a[r * ld + k] * pivot * a[k * ld + c];
                }
                __syncwarp();
            }
            if (LANE == 0) {
                const double pivot = 1.0 / a[(M - 1) * ld + M - 1];
                residual[model.which[d]] = a[(M - 1) * ld + M] * pivot;
                var[model.which[d]] = pivot;
            }
            __syncwarp();
        }
}

// `rounds` = 0: without outliers; the evidence alone is written, and `inliers` to `kinds_in` are not read.
__device__ inline void run_em(
    const Model& model, const Bool* valid, Bool exists, double amplitude, const double* inliers,
    const double* temperatures, const double* shares, const double* kinds_in, double* inliers_out,
    double* temperatures_out, double* shares_out, double* kinds_out, double* evidence, double* residuals,
    double* vars, int K, int D, int M, int rounds, int workers) {
    SHARED(double, space);
    double* weight = space + TILE_SPACE;      // inlier probabilities of the last round
    double* residual = weight + MOST_ROWS;    // first inverse * error
    double* var = residual + MOST_ROWS;       // first the diagonal of the inverse
    double* terms = var + MOST_ROWS;          // what is summed over the readings
    double* totals = terms + (KINDS + 2) * MOST_ROWS;
    double* inverse = totals + KINDS + 3;     // one half, of frames with dense clusters
    double* work = inverse + packed(K, 0);
    const Int64 hypothesis = BLOCK;
    const int t = THREAD;
    int n = 0, any_dense = 0;
    for (int i = 0; i < K; ++i) n += valid[i];
    for (int d = 0; d < D; ++d) any_dense |= model.dense[d];
    if (!exists) {
        if (t == 0) evidence[hypothesis] = 0.0;
        if (rounds == 0) return;
        if (t < K) inliers_out[hypothesis * K + t] = residuals[hypothesis * K + t] = vars[hypothesis * K + t] = 0.0;
        if (t < KINDS) kinds_out[hypothesis * KINDS + t] = 0.0;
        if (t == 0) temperatures_out[hypothesis] = shares_out[hypothesis] = 0.0;
        return;
    }
    const double noise_var = (NOISE * amplitude) * (NOISE * amplitude), a2 = amplitude * amplitude;
    double share = 0.0, temperature = 1.0, kinds[KINDS], counted = 0.0;
    for (int c = 0; c < KINDS; ++c) {
        kinds[c] = rounds ? kinds_in[hypothesis * KINDS + c] : 0.0;
        counted += model.counts[c];
    }
    double inlier = 1.0;
    if (rounds) {
        share = shares[hypothesis];
        temperature = temperatures[hypothesis];
        if (t < n) inlier = inliers[hypothesis * K + t];
    }
    const double own_error = t < n ? model.error[t] : 0.0;
    double log_density = 0.0, own_residual = 0.0, own_var = 1.0;
    for (int round = 0; round < (rounds ? rounds : 1); ++round) {
        if (t < n) weight[t] = noise_var / fmax(inlier, MIN_INLIER);
        __syncthreads();
        double a[TILE][TILE], solved = own_error;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
#pragma unroll
            for (int j = 0; j < TILE; ++j) {
                const int r = TILE_ROW(i), c = TILE_COLUMN(j);
                double v = 0.0;
                if (r < n && c < n) v = a2 * model.smooth[r * K + c] + model.common[r * K + c];
                if (r == c && r < n) v += weight[r];
                a[i][j] = v;
            }
        negative_inverse(a, n, solved, space);
        if (t < n) residual[t] = solved;
#pragma unroll
        for (int i = 0; i < TILE; ++i)
#pragma unroll
            for (int j = 0; j < TILE; ++j) {
                const int r = TILE_ROW(i), c = TILE_COLUMN(j);
                if (r == c && r < n) var[r] = -a[i][j];
                if (any_dense && r >= c && r < n) inverse[packed(r, c)] = -a[i][j];
            }
        __syncthreads();
        const double own_weight = t < n ? weight[t] : 0.0;
        if (any_dense) {
            const double v = t < n ? 1.0 / var[t] : 1.0, r = t < n ? residual[t] * v : 0.0;
            if (t < n) terms[t] = solved;
            __syncthreads();
            if (t < n) { residual[t] = r; var[t] = v; }
            __syncthreads();
            leave_clusters_out(model, inverse, terms, work, workers, D, M, residual, var);
            __syncthreads();
            if (t < n) { own_residual = residual[t]; own_var = var[t]; }
            __syncthreads();
        } else if (t < n) {
            own_var = 1.0 / var[t];
            own_residual = residual[t] * own_var;
        }
        if (t < n) own_var = fmax(own_var - own_weight, MIN_VAR) + noise_var;
        if (!rounds) {
            if (t < n) terms[t] = student_t_log_density(own_residual, own_var);
        } else if (t < n) {
            const double r = own_residual;
            const double is_inlier = share * exp(student_t_log_density(r, own_var * temperature));
            static_assert(KINDS == 5, "a density for each kind of outlier");
            const double of_kinds[KINDS] = {
                kinds[0] * uniform(r, NEAR_LOW, NEAR_HIGH), kinds[1] * uniform(r, FAR_LOW, FAR_HIGH),
                kinds[2] * model.in_range[t], kinds[3] * uniform(r, -ANYWHERE, ANYWHERE), kinds[4] * model.sentinel[t]};
            double is_outlier = 0.0;
            for (int c = 0; c < KINDS; ++c) is_outlier += of_kinds[c];
            const double density = is_inlier + (1.0 - share) * is_outlier;
            inlier = is_inlier / density;
            const double outlier = (1.0 - inlier) / is_outlier;
            for (int c = 0; c < KINDS; ++c) terms[c * MOST_ROWS + t] = of_kinds[c] * outlier;
            terms[KINDS * MOST_ROWS + t] = inlier;
            if (round + 1 == rounds) log_density = log(density);
            terms[(KINDS + 1) * MOST_ROWS + t] = log_density;
        }
        __syncthreads();
        for (int row = THREAD >> 5; row < (rounds ? KINDS + 2 : 1); row += THREADS >> 5) {
            double total = 0.0;
            for (int i = LANE; i < n; i += 32) total += terms[row * MOST_ROWS + i];
            for (int apart = 16; apart > 0; apart >>= 1) total += __shfl_xor_sync(0xffffffffu, total, apart);
            if (LANE == 0) totals[row] = total;
        }
        __syncthreads();
        if (!rounds) break;
        double outliers = 0.0;
        for (int c = 0; c < KINDS; ++c) outliers += totals[c] + model.counts[c];
        for (int c = 0; c < KINDS; ++c) kinds[c] = (totals[c] + model.counts[c]) / outliers;
        share = (totals[KINDS] + PRIOR_INLIERS) / (n + PRIOR_INLIERS + PRIOR_OUTLIERS);
        temperature = fmax(temperature * COOLING, 1.0);
    }
    if (t == 0) {
        double prior = 0.0;
        if (!rounds) {
            share = (n + PRIOR_INLIERS) / (n + PRIOR_INLIERS + PRIOR_OUTLIERS);
            prior = (n + PRIOR_INLIERS) * log(share) + PRIOR_OUTLIERS * log1p(-share);
        } else {
            prior = PRIOR_INLIERS * log(share) + PRIOR_OUTLIERS * log1p(-share);
            prior += MAJORITY_PENALTY * fmin(share - MAJORITY, 0.0);
        }
        for (int c = 0; c < KINDS; ++c)
            if (model.counts[c] > 0.0) prior += model.counts[c] * log(rounds ? kinds[c] : model.counts[c] / counted);
        evidence[hypothesis] = totals[rounds ? KINDS + 1 : 0] + prior;
    }
    if (!rounds) return;
    if (t < K) {
        inliers_out[hypothesis * K + t] = t < n ? inlier : 0.0;
        residuals[hypothesis * K + t] = own_residual;
        vars[hypothesis * K + t] = own_var;
    }
    if (t == 0) { temperatures_out[hypothesis] = temperature; shares_out[hypothesis] = share; }
    if (t < KINDS) kinds_out[hypothesis * KINDS + t] = kinds[t];
}

__device__ inline Model model_of(
    Int64 m, const double* smooth, const double* common, const double* error, const double* in_range,
    const double* sentinel, const double* counts, const Int64* which, const Int64* members, const Bool* there,
    const Bool* dense, int K, int D, int M) {
    return {smooth + m * K * K, common + m * K * K, error + m * K, in_range + m * K, sentinel + m * K,
            counts + m * KINDS, members + m * D * M, there + m * D * M, dense + m * D, which + m * D};
}

extern "C" __global__ void __launch_bounds__(GRID * GRID, 1) em(
    const double* smooth, const double* common, const double* error, const double* in_range, const double* sentinel,
    const double* counts, const Bool* valid, const Int64* which, const Int64* members, const Bool* there,
    const Bool* dense, const Int64* of, const Bool* exists, const double* amplitudes, const double* inliers,
    const double* temperatures, const double* shares, const double* kinds_in, double* inliers_out,
    double* temperatures_out, double* shares_out, double* kinds_out, double* evidence, double* residuals,
    double* vars, int S, int K, int D, int M, int rounds, int workers) {
    const Int64 m = of[BLOCK / S];
    const Model model =
        model_of(m, smooth, common, error, in_range, sentinel, counts, which, members, there, dense, K, D, M);
    run_em(model, valid + m * K, exists[BLOCK], amplitudes[BLOCK], inliers, temperatures, shares, kinds_in,
           inliers_out, temperatures_out, shares_out, kinds_out, evidence, residuals, vars, K, D, M, rounds, workers);
}

extern "C" __global__ void __launch_bounds__(GRID * GRID, 1) evidence_without_outliers(
    const double* smooth, const double* common, const double* error, const double* in_range, const double* sentinel,
    const double* counts, const Bool* valid, const Int64* which, const Int64* members, const Bool* there,
    const Bool* dense, const Int64* of, const Bool* exists, const double* amplitudes, double* evidence, int S, int K,
    int D, int M, int rounds, int workers) {
    const Int64 m = of[BLOCK / S];
    const Model model =
        model_of(m, smooth, common, error, in_range, sentinel, counts, which, members, there, dense, K, D, M);
    run_em(model, valid + m * K, exists[BLOCK], amplitudes[BLOCK], 0, 0, 0, 0, 0, 0, 0, 0, evidence, 0, 0, K, D, M, 0,
           workers);
}
