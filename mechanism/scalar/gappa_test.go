package scalar

import (
	"testing"

	"github.com/geosql/geosql/internal/gappa"
)

// TestFilters proves the bounds of the comparisons in float64 that decide a draw, or which
// value of a universe a reading is.
func TestFilters(t *testing.T) {
	gappa.Check(t, ".", []gappa.Proof{
		{
			// In units that make M = max(|lo|, |hi|) a number from 1 to 2; a universe has M/step = R.
			// A reading is nearest to k if it is less than half a step from it, where midpoints
			// are rounded by 2^-53 M.
			Script: gappa.Script{
				Name: "index of a reading",
				Of: []gappa.Function{
					{Name: "NewUniverse", Prefix: "new_", Only: []string{"new_u_perStep", "new_u_sure"}, Bound: map[string]string{
						"step": "step", "max": "largest", "q_Stride": "stride",
					}},
					{Name: "Universe.Index", Only: []string{"y", "k", "Abs_1"}, Bound: map[string]string{
						"u_lo": "lo", "u_perStep": "new_u_perStep", "u_sure": "new_u_sure",
					}},
				},
				Before: "R = largest / stride; step = rnd(M / R);",
				After: `d = rnd(x - lo);
raw = d * new_u_perStep;
half = rnd(y + 0.5); rawhalf = rnd(raw + 0.5); K = rnd(k);
a = (raw - (x - (lo - moved)) * R / M) / R;
b = (Abs_1 - (raw - k)) / R;
stride_ = rnd(stride); top = rnd(1b-49 * new_largest); Q = rnd(top / stride_);
c = (new_u_sure - (0.5 - 1b-49 * R)) / R;
needed = (|a| + 1b-53 + |b| + c) / 1b-49;`,
				Claim: `M in [1, 2] /\ R in [0.5, 1b48] /\ largest in [1, 1b50] /\ stride in [1, 1b50] /\ x in [-2, 2] /\ lo in [-2, 2] /\ d in [1b-200, 4] /\ d / M in [0, 2.0000001] /\ raw / R in [0, 2.0000001] /\ |moved| <= 1b-53
-> needed <= @F@`,
				Hints: `a -> d / M * ((new_u_perStep - 1 / (M / R)) / (1 / (M / R))) + (d - (x - lo)) / M - moved / M { M <> 0, R <> 0 };
raw -> R * (raw / R) { R <> 0 };
b -> (Abs_1 - (y - k)) / R + raw / R * ((y - raw) / raw) { R <> 0, raw <> 0 };
b -> (Abs_1 - (raw - k)) / R { R <> 0 };
y - k -> (half - k) - 0.5 - (half - (y + 0.5));
y - k -> (rawhalf - k) - 0.5 - (rawhalf - (raw + 0.5)) + (y - raw);
raw - k -> (half - k) - 0.5 - (half - (y + 0.5)) - (y - raw);
raw - k -> (rawhalf - k) - 0.5 - (rawhalf - (raw + 0.5));
y - K -> (y - k) - (K - k);
raw - K -> (raw - k) - (K - k);
c -> (new_u_sure - (0.5 - Q)) / R - 1b-49 * ((Q - 1b-49 * R) / (1b-49 * R)) { R <> 0 };
(Q - 1b-49 * R) / (1b-49 * R) -> (1 + (new_largest - largest) / largest) * (1 + (top - 1b-49 * new_largest) / (1b-49 * new_largest)) * (1 + (Q - top / stride_) / (top / stride_)) / (1 + (stride_ - stride) / stride) - 1 { largest <> 0, stride <> 0, new_largest <> 0, stride_ <> 0, top <> 0 };`,
			},
			Needs:   0.72,
			Planted: []gappa.Edit{{File: "universe.go", Old: "0x1p-49*largest", New: "0x1p-52*largest"}},
		},
		{
			Script: gappa.Script{
				Name:  "score as a float64",
				Of:    []gappa.Function{{Name: "uint128.float", Only: []string{"result"}}},
				After: "error = (result - (a_hi * 1b64 + a_lo)) / (a_hi * 1b64 + a_lo) / (3 * 1b-53);",
				Claim: `a_hi in [1, 1b64] /\ a_lo in [1, 1b64] -> |error| <= @F@`,
			},
			Needs:   0.67,
			Planted: []gappa.Edit{{File: "int128.go", Old: "float64(a.hi)*0x1p64", New: "float64(a.hi)*(1+0x1p-51)*0x1p64"}},
		},
		{
			// Of E the exact values are W, T and U: Exp and Expm1 are within 2^-50 of theirs, and
			// the errors of their arguments move them by ex, e1 and e2.
			Script: gappa.Script{
				Name: "weight of a run",
				Of: []gappa.Function{
					{Name: "choice.prepare", Prefix: "new_", Only: []string{"new_c_slack"}},
					{Name: "run.weight", Only: []string{"x", "w", "y", "Expm1_1", "Expm12_1", "result4"}, Bound: map[string]string{
						"float": "(score * (1 + es))", "Exp": "(W * ((1 + f0) * (1 + ex)))", "Expm1": "(T * ((1 + f1) * (1 + e1)))", "Expm12": "(U * ((1 + f2) * (1 + e2)))",
					}},
				},
				After: `off = x - rate * score;
arg1 = (Expm1_1 - -(rate * r_slope * r_n)) / -(rate * r_slope * r_n);
arg2 = (Expm12_1 - -(rate * r_slope)) / -(rate * r_slope);
rn = rnd(r_n);
top = T * ((1 + f1) * (1 + e1)); bottom = U * ((1 + f2) * (1 + e2));
quotient = rnd(top / bottom);
error = (result4 - W * (T / U)) / (W * (T / U)) / (new_c_slack / 2);`,
				Claim: `rate in [1b-71, 1b40] /\ score in [1b-71, 1b127] /\ x in [1b-140, 100] /\ r_slope in [1, 1b63] /\ r_n in [1, 1b41]
/\ |es| <= 3b-53 /\ |f0| <= 1b-50 /\ |f1| <= 1b-50 /\ |f2| <= 1b-50 /\ |ex| <= 4.5e-14 /\ |e1| <= 1b-50 /\ |e2| <= 1b-51
/\ W in [1b-145, 1] /\ T in [-1, -1b-72] /\ U in [-1, -1b-72]
-> |off| <= 4.47e-14 /\ |arg1| <= 1b-50 /\ |arg2| <= 1b-51 /\ |error| <= @F@`,
				Hints: `off -> x * (1 - 1 / ((1 + es) * (1 + (x - rate * (score * (1 + es))) / (rate * (score * (1 + es)))))) { score <> 0, rate <> 0, x <> 0 };
arg1 -> (1 + (y - rate * r_slope) / (rate * r_slope)) * (1 + (rn - r_n) / r_n) * (1 + (Expm1_1 - (-(y)) * rn) / ((-(y)) * rn)) - 1 { rate <> 0, r_slope <> 0, r_n <> 0, y <> 0, rn <> 0 };
arg2 -> (y - rate * r_slope) / (rate * r_slope) { rate <> 0, r_slope <> 0 };
error -> ((1 + f0) * (1 + ex) * ((1 + f1) * (1 + e1) / ((1 + f2) * (1 + e2))) * (1 + (quotient - top / bottom) / (top / bottom)) * (1 + (result4 - w * quotient) / (w * quotient)) - 1) / (new_c_slack / 2) { W <> 0, T <> 0, U <> 0, quotient <> 0 };`,
			},
			Needs:   0.87,
			Planted: []gappa.Edit{{File: "choice.go", Old: "weightError = 0x1p-44", New: "weightError = 0x1p-45"}},
		},
		{
			// Sums are off by part of the total.
			Script: gappa.Script{
				Name: "share of a run",
				Of: []gappa.Function{
					{Name: "choice.prepare", Prefix: "new_", Only: []string{"new_c_slack"}},
					{Name: "choice.draw", Only: []string{"near", "Below_1", "Below_2"}, Bound: map[string]string{
						"c_upTo_i": "(total_ * (share + e1))", "c_upTo_last": "(total_ * (1 + e2))", "c_slack": "new_c_slack",
					}},
				},
				After: `exactly = total_ * share;
middle = total_ * (share + e1) / total;
needed = |middle - share| + |near - middle|;
spare1 = (near - Below_1) / 1b-42;
spare2 = (Below_2 - near) / 1b-42;
lost = needed / 1b-42;`,
				Claim: `total_ in [1, 1b100] /\ share in [0, 1] /\ |e1| <= 5.75e-14 /\ |e2| <= 5.75e-14 -> lost <= @F@ /\ spare1 >= 0.999 /\ spare2 >= 0.999`,
				Hints: "near - Below_1 -> 2 * new_c_slack - (Below_1 - (near - 2 * new_c_slack));\nBelow_2 - near -> 2 * new_c_slack + (Below_2 - (near + 2 * new_c_slack));\nmiddle - share -> (e1 - share * e2) / (1 + e2) { total_ <> 0 };\nmiddle -> (share + e1) / (1 + e2) { total_ <> 0 };",
			},
			Needs:   0.51,
			Planted: []gappa.Edit{{File: "choice.go", Old: "slack: 2 * weightError", New: "slack: weightError / 2"}},
		},
		{
			// T and U are the exact values of Expm1, as before.
			Script: gappa.Script{
				Name: "value in a run",
				Of: []gappa.Function{
					{Name: "choice.prepare", Prefix: "new_", Only: []string{"new_c_slack"}},
					{Name: "choice.offset", Only: []string{"y", "Expm1_1", "Expm12_1", "near", "Below2_1", "Below2_2"}, Bound: map[string]string{
						"Expm1": "(U * ((1 + f1) * (1 + e1)))", "Expm12": "(T * ((1 + f2) * (1 + e2)))", "c_slack": "new_c_slack", "c_rate": "rate",
					}},
				},
				After: `J = rnd(j + 1); N = rnd(r_n); Y = rate * r_slope;
arg1 = (Expm1_1 - -(Y * r_n)) / -(Y * r_n);
arg2 = (Expm12_1 - -(Y * (j + 1))) / -(Y * (j + 1));
top = T * ((1 + f2) * (1 + e2)); bottom = U * ((1 + f1) * (1 + e1));
error = (near - T / U) / (T / U) / new_c_slack / 0.99;
less = rnd(1 - new_c_slack); more = rnd(1 + new_c_slack);
spare1 = (near - Below2_1) / near / new_c_slack;
spare2 = (Below2_2 - near) / near / new_c_slack;`,
				Claim: `rate in [1b-71, 1b40] /\ r_slope in [1, 1b63] /\ r_n in [1, 1b41] /\ j in [0, 1b41]
/\ |f1| <= 1b-50 /\ |f2| <= 1b-50 /\ |e1| <= 1b-50 /\ |e2| <= 1b-50 /\ T in [-1, -1b-72] /\ U in [-1, -1b-72]
-> |arg1| <= 1b-50 /\ |arg2| <= 1b-50 /\ |error| <= @F@ /\ spare1 >= 0.99 /\ spare2 >= 0.99`,
				Hints: `arg1 -> (1 + (y - Y) / Y) * (1 + (N - r_n) / r_n) * (1 + (Expm1_1 - (-(y)) * N) / ((-(y)) * N)) - 1 { rate <> 0, r_slope <> 0, r_n <> 0, y <> 0, N <> 0 };
arg2 -> (1 + (y - Y) / Y) * (1 + (J - (j + 1)) / (j + 1)) * (1 + (Expm12_1 - (-(y)) * J) / ((-(y)) * J)) - 1 { rate <> 0, r_slope <> 0, j + 1 <> 0, y <> 0, J <> 0 };
error -> ((1 + f2) * (1 + e2) / ((1 + f1) * (1 + e1)) * (1 + (near - top / bottom) / (top / bottom)) - 1) / new_c_slack / 0.99 { T <> 0, U <> 0, top <> 0, bottom <> 0 };
spare1 -> (1 - less * (1 + (Below2_1 - near * less) / (near * less))) / new_c_slack { near <> 0, less <> 0 };
spare2 -> (more * (1 + (Below2_2 - near * more) / (near * more)) - 1) / new_c_slack { near <> 0, more <> 0 };`,
			},
			Needs:   0.034,
			Planted: []gappa.Edit{{File: "choice.go", Old: "near*(1-c.slack)", New: "near*(1-c.slack/64)"}},
		},
	})
}
