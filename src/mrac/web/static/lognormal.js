// The probability that a pixel is nearer than d metres, as mrac/lognormal.py states it: depth is log-normal.

/** Standard normal distribution function: Abramowitz and Stegun 7.1.26, within 1e-7, which a colour does not show. */
function normal(x) {
  const z = Math.abs(x) * Math.SQRT1_2;
  const t = 1 / (1 + 0.3275911 * z);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const half = 0.5 * series * Math.exp(-z * z);
  return x < 0 ? half : 1 - half;
}

export const probabilityNearer = (depth, sigma, d) => normal(Math.log(d / depth) / Math.asinh(sigma / depth));
