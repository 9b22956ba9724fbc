package scalar

import (
	"fmt"
	"strings"
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
						"step": "step", "max": "largest", "q_step": "stride",
					}},
					{Name: "Universe.Index", Only: []string{"y", "k", "Abs_1"}, Bound: map[string]string{
						"u_lo": "lo", "u_perStep": "new_u_perStep", "u_sure": "new_u_sure",
					}},
				},
				Before: "R = largest / stride; step = rnd(M / R);",
				After: `d = rnd(x - lo);
raw = d * new_u_perStep;
a = (raw - (x - (lo - moved)) * R / M) / R;
b = (Abs_1 - (raw - k)) / R;
Q = rnd(rnd(1b-49 * new_largest) / rnd(stride));
c = (new_u_sure - (0.5 - 1b-49 * R)) / R;
needed = (|a| + 1b-53 + |b| + c) / 1b-49;`,
				Claim: `M in [1, 2] /\ R in [0.5, 1b48] /\ largest in [1, 1b50] /\ stride in [1, 1b50] /\ x in [-2, 2] /\ lo in [-2, 2] /\ d in [1b-200, 4] /\ d / M in [0, 2.0000001] /\ raw / R in [0, 2.0000001] /\ |moved| <= 1b-53
-> needed <= @F@`,
				Hints: `a -> d / M * ((new_u_perStep - 1 / (M / R)) / (1 / (M / R))) + (d - (x - lo)) / M - moved / M { M <> 0, R <> 0 };
raw -> R * (raw / R) { R <> 0 };
c -> (new_u_sure - (0.5 - Q)) / R - 1b-49 * ((Q - 1b-49 * R) / (1b-49 * R)) { R <> 0 };
$ R in (` + powersOfTwo(47) + `), M in 2;`,
			},
			Needs:   1,
			Planted: []gappa.Edit{{File: "universe.go", Old: "0x1p-49*largest", New: "0x1p-52*largest"}},
		},
		{
			Script: gappa.Script{
				Name:  "score as a float64",
				Of:    []gappa.Function{{Name: "uint128.float", Only: []string{"result"}}},
				After: "error = (result - (a_hi * 1b64 + a_lo)) / (a_hi * 1b64 + a_lo) / (3 * 1b-53);",
				Claim: `a_hi in [1, 1b64] /\ a_lo in [1, 1b64] -> |error| <= @F@`,
			},
			Needs: 1,
		},
		{
			// Of E the exact values are W, T and U: Exp and Expm1 are within 2^-50 of theirs, and
			// what their arguments are off moves them by ex, e1 and e2.
			Script: gappa.Script{
				Name: "weight of a run",
				Of: []gappa.Function{{Name: "run.weight", Only: []string{"x", "w", "y", "Expm1_1", "Expm12_1", "result4"}, Bound: map[string]string{
					"float": "(score * (1 + es))", "Exp": "(W * ((1 + f0) * (1 + ex)))", "Expm1": "(T * ((1 + f1) * (1 + e1)))", "Expm12": "(U * ((1 + f2) * (1 + e2)))",
				}}},
				After: `off = x - rate * score;
arg1 = (Expm1_1 - -(rate * r_slope * r_n)) / -(rate * r_slope * r_n);
arg2 = (Expm12_1 - -(rate * r_slope)) / -(rate * r_slope);
rn = rnd(r_n);
top = T * ((1 + f1) * (1 + e1)); bottom = U * ((1 + f2) * (1 + e2));
quotient = rnd(top / bottom);
error = (result4 - W * (T / U)) / (W * (T / U)) / ` + gappa.Number(weightError) + `;`,
				Claim: `rate in [1b-71, 1b40] /\ score in [1b-71, 1b127] /\ x in [1b-140, 100] /\ r_slope in [1, 1b63] /\ r_n in [1, 1b41]
/\ |es| <= 3b-53 /\ |f0| <= 1b-50 /\ |f1| <= 1b-50 /\ |f2| <= 1b-50 /\ |ex| <= 4.5e-14 /\ |e1| <= 1b-50 /\ |e2| <= 1b-51
/\ W in [1b-145, 1] /\ T in [-1, -1b-72] /\ U in [-1, -1b-72]
-> |off| <= 4.47e-14 /\ |arg1| <= 1b-50 /\ |arg2| <= 1b-51 /\ |error| <= @F@`,
				Hints: `off -> x * (1 - 1 / ((1 + es) * (1 + (x - rate * (score * (1 + es))) / (rate * (score * (1 + es)))))) { score <> 0, rate <> 0, x <> 0 };
arg1 -> (1 + (y - rate * r_slope) / (rate * r_slope)) * (1 + (rn - r_n) / r_n) * (1 + (Expm1_1 - (-(y)) * rn) / ((-(y)) * rn)) - 1 { rate <> 0, r_slope <> 0, r_n <> 0, y <> 0, rn <> 0 };
arg2 -> (y - rate * r_slope) / (rate * r_slope) { rate <> 0, r_slope <> 0 };
error -> ((1 + f0) * (1 + ex) * ((1 + f1) * (1 + e1) / ((1 + f2) * (1 + e2))) * (1 + (quotient - top / bottom) / (top / bottom)) * (1 + (result4 - w * quotient) / (w * quotient)) - 1) / ` + gappa.Number(weightError) + ` { W <> 0, T <> 0, U <> 0, quotient <> 0 };`,
			},
			Needs: 1,
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
			Needs:   1,
			Planted: []gappa.Edit{{File: "choice.go", Old: "slack: 2 * weightError", New: "slack: weightError / 2"}},
		},
	})
}

// powersOfTwo lists the powers of two from 1 to 2^high.
func powersOfTwo(high int) string {
	var list []string
	for n := range high + 1 {
		list = append(list, fmt.Sprintf("1b%d", n))
	}
	return strings.Join(list, ", ")
}
