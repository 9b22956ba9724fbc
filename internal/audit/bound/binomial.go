package bound

import "math"

// slack is added to the logarithm of every probability before it is compared with alpha: it is
// far more than the rounding of logTail, which the tests compare with exact sums.
const slack = 1e-9

// logitBelow returns a lower confidence bound, at level 1-alpha, of the logit of a binomial's
// probability if x of n trials succeeded: the largest t, rounded down, at which x or more
// successes have probability at most alpha (Clopper and Pearson 1934). It is -Inf where nothing
// can be said.
func logitBelow(x, n int, alpha float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	limit := math.Log(alpha)
	if x == n {
		return logitOfLog((limit - slack) / float64(n))
	}
	// At low, x or more successes are too unlikely, at high likely enough.
	high := math.Log(float64(x) / float64(n-x))
	step := 1.0
	low := high - step
	for logTail(x, n, low)+slack > limit {
		high = low
		step *= 2
		low -= step
	}
	for {
		t := low + (high-low)/2
		if high-low < 1e-9 || t <= low || t >= high {
			return low
		}
		if logTail(x, n, t)+slack > limit {
			high = t
		} else {
			low = t
		}
	}
}

// logitOfLog returns ln(p/(1-p)) for p = exp(l) < 1.
func logitOfLog(l float64) float64 {
	return l - math.Log(-math.Expm1(l))
}

// logTail returns the logarithm of the probability of x or more successes in n trials with success probability of logit
// t; 0 < x < n, and x must be at least the mean, so that the terms of the sum decrease.
func logTail(x, n int, t float64) float64 {
	odds := math.Exp(t)
	sum, term := 1.0, 1.0
	for k := x; k < n; k++ {
		ratio := float64(n-k) / float64(k+1) * odds
		term *= ratio
		sum += term
		// The ratios decrease, so that the rest is less than a geometric series.
		if ratio < 1 && term*ratio < (1-ratio)*sum*1e-13 {
			break
		}
	}
	return logMass(x, n, t) + math.Log(sum)
}

// logMass returns the logarithm of the probability of x successes in n trials, 0 < x < n, by
// Loader's saddle-point expansion (2000), in which nothing large cancels.
func logMass(x, n int, t float64) float64 {
	p, q := 1/(1+math.Exp(-t)), 1/(1+math.Exp(t))
	a, b, m := float64(x), float64(n-x), float64(n)
	return stirling(m) - stirling(a) - stirling(b) - deviance(a, m*p) - deviance(b, m*q) -
		math.Log(2*math.Pi*a*b/m)/2
}

// deviance returns x*ln(x/m) + m - x.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) < 0.1*(x+m) {
		// By the series of the logarithm in v = (x-m)/(x+m), which does not cancel.
		v := (x - m) / (x + m)
		sum := (x - m) * v
		term := 2 * x * v
		for j := 3.0; ; j += 2 {
			term *= v * v
			next := sum + term/j
			if next == sum {
				return sum
			}
			sum = next
		}
	}
	return x*math.Log(x/m) + m - x
}

// stirling returns ln(n!) less Stirling's approximation ln(sqrt(2 pi n) (n/e)^n).
func stirling(n float64) float64 {
	if n < 16 {
		l, _ := math.Lgamma(n + 1)
		return l - (n+0.5)*math.Log(n) + n - math.Log(2*math.Pi)/2
	}
	s := n * n
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-1.0/1188/s)/s)/s)/s) / n
}
