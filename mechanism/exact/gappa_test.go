package exact

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/gappa"
)

// A fact that one bound takes from another is stated once: it is the claim of one proof, and an
// assumption of another.
const (
	// halfLogError is the error of halfLog.
	halfLogError = "1b-45"
	// slack is the part of an enclosure's err beyond |E - mid|.
	slack = "(1b-48 * (1 + mid + err))"
	// exponentError is the error of an exponent, as a part of its scale.
	exponentError = "1b-49"
	// offsetError is the error of the offset of an inversion.
	offsetError = "1b-49"
	// logError is the relative error of 4 units in the last place.
	logError = "1b-50"
)

// TestFilters proves the bounds of all comparisons in float64.
func TestFilters(t *testing.T) {
	z, tail := seriesRange()
	gappa.Check(t, ".", []gappa.Proof{
		{
			Script: gappa.Script{
				Name: "logarithm of 32 bits",
				Of:   []gappa.Function{{Name: "halfLog", Only: []string{"result"}}},
				After: `
Z = m * entry_inverse - 1;
series = Z * (1 - Z * (1/2 - Z * (1/3 - Z * (1/4))));
model = (e - n) * ` + gappa.Number(math.Ln2) + ` + (entry_log + series);
exactly = (e - n) * LN2 + (LOG + (series + tail));
error = (result - exactly) / ` + halfLogError + `;`,
				Claim: `@FIX(unknown, 0) /\ @FIX(n, 0) /\ e - n in [-33, -1] /\ m in [1, 2] /\ entry_inverse in [0.5, 1]
/\ ` + "|Z| <= " + z + ` /\ ` + "|tail| <= " + tail + `
/\ entry_log in [0, 0.6932] /\ ` + "|entry_log - LOG| <= 1b-51" + `
/\ LN2 in [0.693147180559945309417232121458, 0.693147180559945309417232121459]
-> |error| <= @F@`,
				Hints: "result - exactly -> (result - model) + (e - n) * (" + gappa.Number(math.Ln2) + " - LN2) + (entry_log - LOG) - tail;",
			},
			Needs:   0.38,
			Planted: []gappa.Edit{{File: "log.go", Old: `(1./4)`, New: `(1./5)`}},
		},
		{
			Script: gappa.Script{
				Name:  "enclosure of 32 bits",
				Of:    []gappa.Function{{Name: "enclose", Prefix: "", Only: []string{"result_err"}}},
				After: "err = result_err; needed = 1/2 + w * (" + halfLogError + " + " + slack + ");",
				Claim: "w in [1, 4294967295] /\\ mid in [0, 23] -> needed / (err * w) <= @F@",
				Hints: "err * w -> 0.5625 * (1 + (err - 0.5625 / w) / (0.5625 / w)) { w <> 0 };",
			},
			Needs:   0.9,
			Planted: []gappa.Edit{{File: "enclosure.go", Old: `0.5625 /`, New: `0.5 /`}},
		},
		{
			Script: gappa.Script{
				Name: "enclosure of 64 bits",
				Of:   []gappa.Function{{Name: "enclose64", Bound: map[string]string{"Log": "(-minus)"}, Only: []string{"result_err"}}},
				After: `err = result_err;
S = (1 + mid) * 1b-47;
ideal = 1.125 / w + S;
rest = (1b-52 + ` + logError + ` * mid) / (1 + mid) * 1b47;
needed = (1 / w + rest * S + (0.5 * S + 1b-48 * err)) / err;`,
				Claim: "w in [1, 1b64] /\\ minus in [0, 45] -> needed <= @F@",
				Hints: `needed -> (8/9 - (8/9 - 1/2 - rest) * (S / ideal)) / (err / ideal) + 1b-48 { err <> 0, ideal <> 0 };
err / ideal -> 1 + (err - ideal) / ideal { ideal <> 0 };
S / ideal -> 1 / (1 + (1.125 / w) / S) { S <> 0, ideal <> 0 };`,
			},
			Needs:   0.9,
			Planted: []gappa.Edit{{File: "enclosure.go", Old: `0x1p-47,`, New: `0x1p-50,`}},
		},
		{
			Script: gappa.Script{
				Name: "offset of the Laplace law",
				Of: []gappa.Function{{Name: "NewDiscreteLaplace", Only: []string{"Log1p_1", "newInversion_2"}, Bound: map[string]string{
					"Expm1": "(Y * (1 + d1))", "Log1p": "(L * (1 + d2))",
				}}},
				After: "error = (newInversion_2 + (L - slope * (Log1p_1 - Y / 2))) / " + offsetError + ";",
				Claim: "Y in [-1, 0] /\\ L in [-0.6932, 0] /\\ |d1| <= " + logError + " /\\ |d2| <= " + logError + " /\\ slope in [1, 2.001] -> |error| <= @F@",
				Hints: "error -> (-(L * d2) - slope * ((Log1p_1 - Y * (1 + d1) / 2) + Y * d1 / 2)) / " + offsetError + ";",
			},
			Needs:   0.92,
			Planted: []gappa.Edit{{File: "laplace.go", Old: `math.Expm1(-rate)/2`, New: `math.Expm1(-rate)/2.0000001`}},
		},
		{
			Script: gappa.Script{
				Name: "comparison with an exponent",
				Of:   []gappa.Function{{Name: "enclosure.exceeds", Bound: map[string]string{"e_mid": "mid", "e_err": "err"}}},
				After: `total = scale + mid + err + one;
ideal = err + scale * 1b-48;
needed = (|difference - (mid - x)| + (ideal - margin)) / total / 1b-49;`,
				Claim: `scale in [0, 2] /\ mid in [0, 2] /\ err in [0, 2] /\ one in [0, 2] /\ total in [1, 2] /\ x / scale in [-1, 1] /\ x in [-2, 2]
-> needed <= @F@`,
			},
			Needs:   0.19,
			Planted: []gappa.Edit{{File: "enclosure.go", Old: `scale*0x1p-48`, New: `scale*0x1p-51`}},
		},
		{
			Script: gappa.Script{
				Name: "inversion",
				Of: []gappa.Function{
					{Name: "newInversion", Prefix: "v_", Only: []string{"v_result_inverse"}},
					{Name: "enclosure.quotient", Bound: map[string]string{"e_mid": "mid", "e_err": "err", "inverse": "inv", "v_result_inverse": "inv"}},
				},
				Before: "s1 = rnd(mid + offset); v_rate = s1 * q; inv = rnd(1 / v_rate);",
				After: `xs = s1 * inv;
Y = (mid + t + offset - off) / v_rate;
n1 = (left1 - (Y - k)) * v_rate + t;
n2 = (left2 - (1 - (Y - k))) * v_rate - t;
m = (right1 * v_rate - err) / err / 1b-48;
needed1 = n1 / (1 + mid) / 1b-48;
needed2 = n2 / (1 + mid) / 1b-48;`,
				Claim: `mid in [0, 45] /\ err in [1b-48, 64] /\ offset in [0, 0.6932] /\ s1 in [1b-60, 46] /\ q in [1b-46, 2]
/\ |off| <= ` + offsetError + ` -> |needed1| <= @F@ /\ |needed2| <= @F@ /\ |m| <= @F@`,
				Hints: `n1 -> s1 * (q * (left1 - (xs - k))) + s1 * ((inv - 1 / v_rate) / (1 / v_rate)) + (s1 - (mid + offset)) + off { s1 <> 0, q <> 0 };
n2 -> (left2 - (1 - left1)) * q * s1 - n1 { s1 <> 0, q <> 0 };
left1 - (xs - k) -> (left1 - (x - k)) + (x - xs);
xs -> (1 + (inv - 1 / v_rate) / (1 / v_rate)) / q { s1 <> 0, q <> 0 };
m -> ((1 + (right1 - err * inv) / (err * inv)) * (1 + (inv - 1 / v_rate) / (1 / v_rate)) - 1) / 1b-48 { err <> 0, s1 <> 0, q <> 0, inv <> 0 };
$ q in (` + powers(-45, 0) + `), mid in (1, 4, 16);`,
			},
			Needs:   0.81,
			Planted: []gappa.Edit{{File: "enclosure.go", Old: `e.err * inverse`, New: `e.err * inverse / 2`}},
		},
		{
			Script: gappa.Script{
				Name:  "ratio",
				Of:    []gappa.Function{{Name: "Source.BernoulliExpRatio", Only: []string{"x"}}},
				After: "exactly = rate * (num / den); error = (x - exactly) / x / " + exponentError + ";",
				Claim: `rate in [1b-900, 1b900] /\ num in [1, 1b64] /\ den in [1, 1b64] -> |error| <= @F@`,
				Hints: "(x - exactly) / x -> 1 - 1 / (1 + (x - exactly) / exactly) { exactly <> 0 , x <> 0 };",
			},
			Needs:   0.26,
			Planted: []gappa.Edit{{File: "bernoulli.go", Old: `rate * (float64(num) / float64(den))`, New: `rate * (float64(num) / float64(float32(den)))`}},
		},
		{
			Script: gappa.Script{
				Name: "planar law",
				Of:   []gappa.Function{{Name: "PlanarLaplace.exponent", Only: []string{"euclid", "x"}, Bound: map[string]string{"l_rate": "rate", "l_axis_rate": "(rate * part)"}}},
				After: `I = |i|; J = |j|;
root = sqrt(I * I + J * J);
reach = rnd(fi + fj);
exactly = rate * root - rate * part * (I + J);
error = (x - exactly) / euclid / ` + exponentError + ";",
				Claim: `rate in [1, 2] /\ part in [0, 0.7072] /\ i in [0, 1] /\ j in [0.5, 1] -> |error| <= @F@`,
				Hints: `x - exactly -> (x - (rate * Sqrt - rate * part * reach)) + rate * (Sqrt - root) - rate * part * (reach - (I + J));
error -> ((x - exactly) / rate) / (euclid / rate) / ` + exponentError + `{ rate <> 0 };
(x - exactly) / rate -> (x - (rate * Sqrt - rate * part * reach)) / rate + ((Sqrt - root) - part * (reach - (I + J))) { rate <> 0 };
euclid / rate -> (1 + (euclid - rate * Sqrt) / (rate * Sqrt)) * Sqrt { rate <> 0, Sqrt <> 0};
$ i in 4, j in 4;`,
			},
			Needs:   0.84,
			Planted: []gappa.Edit{{File: "planar.go", Old: "l.rate * math.Sqrt", New: "(1 - 0x1p-49) * l.rate * math.Sqrt"}},
		},
		{
			Script: gappa.Script{
				Name: "Laplace test",
				Of:   []gappa.Function{{Name: "Source.LaplaceTest", Only: []string{"t", "scale"}}},
				After: `root = sqrt(i * i + j * j);
exactly = c - rate * root;
error = (t - exactly) / scale / ` + exponentError + ";",
				Claim: `c in [-2, 2] /\ rate in [0, 2] /\ scale in [1, 8] /\ i in [0, 1] /\ j in [0.5, 1] -> |error| <= @F@`,
				Hints: "$ i in 4, j in 4, c in 4;",
			},
			Needs:   0.78,
			Planted: []gappa.Edit{{File: "bernoulli.go", Old: `c-euclid`, New: `c-euclid*(1+0x1p-49)`}},
		},
		{
			Script: gappa.Script{
				Name: "discrete Gaussian law",
				Of: []gappa.Function{
					{Name: "NewDiscreteGaussian", Prefix: "new_", Bound: map[string]string{"rate": "rate"}, Only: []string{"new_a", "new_result_root", "new_result_middle"}},
					{Name: "DiscreteGaussian.accept", Only: []string{"x", "scale"}, Bound: map[string]string{
						"g_root": "new_result_root", "g_middle": "new_result_middle", "max": "count",
					}},
				},
				After: `D = sqrt(rate) * count - new_a / (2 * sqrt(rate));
exactly = D * D;
error = (x - exactly) / scale / ` + exponentError + ";",
				Claim: `rate in [1, 4] /\ count in [0, 128] -> |error| <= @F@`,
				Hints: `x - exactly -> (x - difference * difference) + (difference - D) * (difference + D) { 2 * sqrt(rate) <> 0 };
$ count in (` + ratios(1.2, 0.25, 128) + `), rate in 6;`,
			},
			Needs:   0.95,
			Planted: []gappa.Edit{{File: "gaussian.go", Old: `far-g.middle`, New: `far-g.middle*(1+0x1p-48)`}},
		},
		{
			Script: gappa.Script{
				Name: "proposal of the normal law",
				Of:   []gappa.Function{{Name: "proposal.exponent", Only: []string{"result", "second"}}},
				After: `Z = (p_k + (p_x + digits) * 1b-64) / 64;
zz = (p_k + p_x * 1b-64) * 1b-6;
model = (z * z + 1) / 2 - p_k * 1b-6;
exactly = (Z * Z + 1) / 2 - p_k / 64;
error = (result - exactly) / second / ` + exponentError + ";",
				Claim: `p_k in [0, 1024] /\ p_x in [0, 18446744073709551615] /\ digits in [0, 1] -> |error| <= @F@`,
				Hints: `result - exactly -> (result - model) + (z - Z) * (z + Z) / 2;
z - Z -> (z - zz) - digits * 1b-70;
$ p_k in (` + ratios(1.3, 16, 1000) + `);`,
			},
			Needs:   0.56,
			Planted: []gappa.Edit{{File: "normal.go", Old: `0x1p-64) * (1. / (1 << stepBits))`, New: `0x1p-64) * (1. / (1 << stepBits)) * (1 + 0x1p-48)`}},
		},
		roundingOfNormal("equal signs", "1"),
		roundingOfNormal("opposite signs", "-1"),
		{
			Script: gappa.Script{
				Name: "uniform",
				Of:   []gappa.Function{{Name: "Uniform.Below", Only: []string{"known", "left1"}}},
				After: `exactly = int<dn>(u_word * 1b-11) * 1b-53;
error1 = known - exactly; error2 = left1 - (exactly + 1b-53);`,
				Claim: `u_word in [0, 18446744073709549568] -> |error1| <= 0 /\ |error2| <= 0`,
				Hints: "error2 -> (left1 - (known + 1b-53)) + (known - exactly);",
			},
			Needs:   1,
			Planted: []gappa.Edit{{File: "uniform.go", Old: `u.word>>11`, New: `u.word>>10`}},
		},
		{
			Script: gappa.Script{
				Name: "rate of many units",
				Of:   []gappa.Function{{Name: "RateTimes", Only: []string{"result"}}},
				After: `A = rnd(n); B = rnd(rate * A); share = ` + gappa.Number(1-0x1p-51) + `;
above = (result - rate * n) / (rate * n);
lost = -above / 1b-50;`,
				Claim: `rate in [1e-300, 1b900] /\ n in [1, 9223372036854775807] -> above <= 0 /\ lost <= @F@`,
				Hints: "above -> (1 + (A - n) / n) * (1 + (B - rate * A) / (rate * A)) * (1 + (result - B * share) / (B * share)) * share - 1 { n <> 0, rate <> 0, A <> 0, B <> 0 };",
			},
			Needs:   0.89,
			Planted: []gappa.Edit{{File: "rate.go", Old: `0x1p-51`, New: `0x1p-53`}},
		},
	})
}

// seriesRange returns bounds, over the table of halfLog, on |z| and on the remainder of its series
// for ln(1+z): less than |z|^5/5 / (1-|z|).
func seriesRange() (z, tail string) {
	most := new(big.Rat)
	for i, entry := range logTable {
		for _, end := range []int64{int64(i), int64(i) + 1} {
			m := big.NewRat(1<<logBits+end, 1<<logBits)
			m.Mul(m, new(big.Rat).SetFloat64(entry.inverse)).Sub(m, big.NewRat(1, 1))
			if m.Abs(m).Cmp(most) > 0 {
				most = m
			}
		}
	}
	x, _ := most.Float64()
	x *= 1 + 0x1p-50
	return gappa.Number(x), gappa.Number(x * x * x * x * x / 5 / (1 - x) * (1 + 0x1p-40))
}

// powers lists the powers of two from 2^low to 2^high.
func powers(low, high int) string {
	var list []string
	for n := low; n <= high; n++ {
		list = append(list, fmt.Sprintf("1b%d", n))
	}
	return strings.Join(list, ", ")
}

// roundingOfNormal proves the margin of proposal.nearest where c and the noise have the signs
// that sign says, for a sum that is 1/4 or more: a smaller one has no other integer near.
// total is |c| + sigma*z; share is the part of sigma*z in it.
func roundingOfNormal(name, sign string) gappa.Proof {
	return gappa.Proof{
		Script: gappa.Script{
			Name: "rounding of the normal law, " + name,
			Of: []gappa.Function{{Name: "proposal.nearest", Only: []string{"left1", "y", "integer", "noise", "margin"}, Bound: map[string]string{
				"sigma": "sigma", "c": "center",
			}}},
			Before: `zz = (p_k + p_x * 1b-64) * 1b-6; N = total * share; sigma = N / zz;
center = ` + sign + ` * total * (1 - share);`,
			After: `fraction = rnd(y - integer);
rounding = (0.5 - |fraction|) - left1;
spread = N + total * (1 - share);
ideal = (|center| + |noise|) * 1b-50 + |sigma| * 1b-69;
needed = (|y - (center + N)| / total + 1b-53 + 1b-50 * ((ideal - margin) / ideal)) / 1b-50;
rounded = |rounding| / 1b-55;`,
			Claim: `share in [1b-200, 1] /\ total in [1, 2] /\ @FIX(p_k, 0) /\ p_k in [0, 1b63] /\ p_x in [1, 18446744073709551615]
/\ |center| - total * (1 - share) in [0, 0] /\ |noise| - noise in [0, 0] /\ |sigma| - sigma in [0, 0] -> needed <= @F@ /\ rounded <= 1`,
			Hints: `y - (center + N) -> (y - (center + sigma * z_of)) + N * ((z_of - zz) / zz) { zz <> 0 };
|center| -> total * (1 - share) + (|center| - total * (1 - share));
|noise| -> noise + (|noise| - noise);
|sigma| -> sigma + (|sigma| - sigma);
$ share in 8, total in 4;`,
		},
		Needs:   0.7,
		Planted: []gappa.Edit{{File: "normal.go", Old: "0x1p-50", New: "0x1p-52"}},
	}
}

// ratios lists numbers from low on to high, each ratio times the one before.
func ratios(ratio, low, high float64) string {
	var list []string
	for x := low; x < high; x *= ratio {
		list = append(list, gappa.Number(x))
	}
	return strings.Join(list, ", ")
}
