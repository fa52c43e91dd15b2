// Hypotheses of the gate: where they start, which of them are carried on, and their average; see
// `mrac.gpu.hypotheses`. One block takes one model.

// The place of the largest of `values`, of equals the first, and -1 where all are -inf; of the first warp alone.
__device__ inline int largest(const double* values, int n) {
    double best = -INFINITY;
    int at = n;
    for (int i = LANE; i < n; i += 32)
        if (values[i] > best) { best = values[i]; at = i; }
    for (int apart = 16; apart > 0; apart >>= 1) {
        const double other = __shfl_xor_sync(0xffffffffu, best, apart);
        const int there = __shfl_xor_sync(0xffffffffu, at, apart);
        if (other > best || (other == best && there < at)) { best = other; at = there; }
    }
    return best > -INFINITY ? at : -1;
}

#ifdef STARTS
// A start at which every reading is an inlier, then the shifts that most readings agree on, best first; each at every
// amplitude of the search.
extern "C" __global__ void starts(
    const double* error, const Bool* valid, const double* counts, const double* prior_amplitude, const double* searched,
    Bool* exists, double* amplitude, double* inlier, double* temperature, double* share, double* kinds, int K, int A) {
    SHARED(double, errors);
    double* votes = errors + K;
    double* shifts = votes + K;  // of all starts but the first; and whether there is one
    double* found = shifts + STARTS;
    const Int64 q = BLOCK;
    const int H = (1 + STARTS) * A;
    for OF_BLOCK(i, K) errors[i] = valid[q * K + i] ? error[q * K + i] : INFINITY;
    __syncthreads();
    for (int i = THREAD >> 5; i < K; i += THREADS >> 5) {
        double sum = 0.0;
        if (errors[i] < INFINITY)
            for (int j = LANE; j < K; j += 32)
                if (errors[j] < INFINITY) {
                    const double apart = (errors[i] - errors[j]) / VOTE_STD;
                    sum += exp(-0.5 * (apart * apart));
                }
        for (int apart = 16; apart > 0; apart >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (LANE == 0) votes[i] = errors[i] < INFINITY ? sum : -INFINITY;
    }
    __syncthreads();
    if (THREAD < 32)
        for (int s = 0; s < STARTS; ++s) {
            const int best = largest(votes, K);
            const double shift = best >= 0 ? errors[best] : 0.0;
            if (LANE == 0) { shifts[s] = shift; found[s] = best >= 0 ? 1.0 : 0.0; }
            for (int i = LANE; i < K; i += 32)
                if (!(fabs(errors[i] - shift) > APART)) votes[i] = -INFINITY;
            __syncwarp();
        }
    __syncthreads();
    double counted = 0.0;
    for (int c = 0; c < KINDS; ++c) counted += counts[q * KINDS + c];
    for OF_BLOCK(h, H) {
        const int s = h / A - 1;
        exists[q * H + h] = s < 0 || found[s] > 0.0;
        amplitude[q * H + h] = prior_amplitude[q] * searched[h % A];
        temperature[q * H + h] = s < 0 ? HOT : WARM;
        share[q * H + h] = PRIOR_INLIERS / (PRIOR_INLIERS + PRIOR_OUTLIERS);
        for (int c = 0; c < KINDS; ++c) kinds[(q * H + h) * KINDS + c] = counts[q * KINDS + c] / counted;
    }
    for OF_BLOCK(i, (1 + STARTS) * K) {
        const int s = i / K - 1, t = i % K;
        double v = errors[t] < INFINITY ? 1.0 : 0.0;
        if (s >= 0 && v > 0.0) {
            const double apart = (errors[t] - shifts[s]) / INLIER_STD;
            v = exp(-0.5 * (apart * apart));
        }
        for (int a = 0; a < A; ++a) inlier[((q * (1 + STARTS) + s + 1) * A + a) * K + t] = v;
    }
}
#endif

#ifdef CARRIED_ON
// Row r of R carries on hypotheses of the highest evidence of the H of model of[r] that have not converged to one, each
// at the A amplitudes of its third of the table `factors`. Of the last third only the first `num_alone` count.
extern "C" __global__ void distinct(
    const double* evidence, const double* inlier_in, const Bool* exists_in, const double* temperature_in,
    const double* share_in, const double* kinds_in, const double* prior_amplitude, const Int64* of,
    const double* factors, const Bool* has_factor, Bool* tried, double* tried_amplitude, Bool* exists,
    double* amplitude, double* inlier, double* temperature, double* share, double* kinds, int R, int H, int K, int A,
    int num_alone) {
    SHARED(double, left);
    double* best = left + H;
    const Int64 r = BLOCK, q = of[r];
    const int third = (int)(3 * r / R), S = CARRIED_ON * A;
    const bool alone = third == 2;
    for OF_BLOCK(h, H)
        left[h] = exists_in[q * H + h] && (!alone || h < num_alone) ? evidence[q * H + h] : -INFINITY;
    __syncthreads();
    for (int s = 0; s < CARRIED_ON; ++s) {
        if (THREAD < 32) {
            const int at = largest(left, H);
            const double highest = at >= 0 ? left[at] : -INFINITY;
            __syncwarp();
            if (s == 0)
                for (int h = LANE; h < H; h += 32)
                    if (!(left[h] >= highest - HOPELESS)) left[h] = -INFINITY;
            if (LANE == 0) best[s] = at;
        }
        __syncthreads();
        const int at = (int)best[s];
        for (int h = THREAD >> 5; h < H && at >= 0; h += THREADS >> 5) {
            double apart = 0.0;
            for (int t = LANE; t < K; t += 32)
                apart = fmax(apart, fabs(inlier_in[(q * H + h) * K + t] - inlier_in[(q * H + at) * K + t]));
            for (int lanes = 16; lanes > 0; lanes >>= 1) apart = fmax(apart, __shfl_xor_sync(0xffffffffu, apart, lanes));
            if (LANE == 0 && !(apart > DISTINCT)) left[h] = -INFINITY;
        }
        __syncthreads();
    }
    for OF_BLOCK(a, A) {
        tried[r * A + a] = has_factor[third * A + a];
        tried_amplitude[r * A + a] = prior_amplitude[q] * factors[third * A + a];
    }
    for OF_BLOCK(i, S) {
        const int at = (int)best[i / A], a = i % A;
        const Int64 from = q * H + (at < 0 ? 0 : at), to = r * S + i;
        exists[to] = at >= 0 && has_factor[third * A + a];
        amplitude[to] = prior_amplitude[q] * factors[third * A + a];
        temperature[to] = fmin(temperature_in[from], MOST_HOT);
        share[to] = share_in[from];
        for (int c = 0; c < KINDS; ++c) kinds[to * KINDS + c] = kinds_in[from * KINDS + c];
    }
    for OF_BLOCK(i, S * K) {
        const int at = (int)best[i / K / A];
        inlier[r * S * K + i] = inlier_in[(q * H + (at < 0 ? 0 : at)) * K + i % K];
    }
}
#endif

#ifdef MOST_FACTORS
// Averages the hypotheses (R, S, A) of each row: at every amplitude the best of S, then all amplitudes.
extern "C" __global__ void average(
    const double* evidence_in, const Bool* exists, const double* without_in, const Bool* tried, const double* factors,
    const double* amplitude_in, const double* share_in, const double* inlier_in, const double* residual_in,
    const double* var_in, double* inlier, double* residual, double* std, double* explained, double* amplitude,
    double* share, double* log_odds, double* evidence, int S, int A, int K) {
    SHARED(double, weight);
    double* rows = weight + MOST_FACTORS;
    double* scalar = rows + MOST_FACTORS;
    const Int64 r = BLOCK, first = r * S * A;
    if (THREAD == 0) {
        double best[MOST_FACTORS], prior[MOST_FACTORS], with = 0.0, without = 0.0, plain = 0.0, plain_without = 0.0;
        double high = -INFINITY, high_without = -INFINITY, high_plain = -INFINITY, high_plain_without = -INFINITY;
        int top = 0, num = 0;
        for (int a = 0; a < A; ++a) {
            const double off = log(factors[r * A + a]) / AMPLITUDE_SPREAD;
            prior[a] = -0.5 * (off * off);
            num += tried[r * A + a];
            int at = 0;
            best[a] = -INFINITY;
            for (int s = 0; s < S; ++s) {
                const Int64 i = first + s * A + a;
                const double e = exists[i] && tried[r * A + a] ? evidence_in[i] + prior[a] : -INFINITY;
                if (e > best[a]) { best[a] = e; at = s; }
            }
            rows[a] = A * at + a;
            if (best[a] > best[top]) top = a;
            high = fmax(high, best[a]);
            high_plain = fmax(high_plain, best[a] - prior[a]);
            if (tried[r * A + a]) {
                high_without = fmax(high_without, without_in[r * A + a] + prior[a]);
                high_plain_without = fmax(high_plain_without, without_in[r * A + a]);
            }
        }
        for (int a = 0; a < A; ++a) {
            weight[a] = exp(best[a] - high);
            with += weight[a];
            plain += exp(best[a] - prior[a] - high_plain);
            if (!tried[r * A + a]) continue;
            without += exp(without_in[r * A + a] + prior[a] - high_without);
            plain_without += exp(without_in[r * A + a] - high_plain_without);
        }
        for (int a = 0; a < A; ++a) weight[a] /= with;
        const double odds = (log(with) + high) - (log(without) + high_without);
        const double p = log(plain) + high_plain, w = log(plain_without) + high_plain_without, more = fmax(p, w);
        const Int64 at = first + (int)rows[top];
        scalar[0] = 1.0 / (1.0 + exp(clamped(odds + CLEAN_ODDS, -50.0, 50.0)));
        scalar[1] = amplitude_in[at];
        scalar[2] = rows[top];
        amplitude[r] = amplitude_in[at];
        share[r] = share_in[at];
        log_odds[r] = odds;
        evidence[r] = more + log1p(exp(fmin(p, w) - more)) - log((double)num);
    }
    __syncthreads();
    const double clean = scalar[0], a2 = scalar[1] * scalar[1];
    const Int64 top = (first + (int)scalar[2]) * K;
    for OF_BLOCK(t, K) {
        double sum = 0.0;
        for (int a = 0; a < A; ++a) sum += weight[a] * inlier_in[(first + (int)rows[a]) * K + t];
        inlier[r * K + t] = clean + (1.0 - clean) * sum;
        const double var = var_in[top + t];
        residual[r * K + t] = residual_in[top + t];
        std[r * K + t] = sqrt(var);
        explained[r * K + t] = clamped(1.0 - (var - NOISE * NOISE * a2) / (a2 * (1.0 + FINE_VAR)), 0.0, 1.0);
    }
}
#endif
