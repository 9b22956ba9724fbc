package planar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/internal/gappa"
)

// A fact that one bound takes from another is stated once: it is the claim of one proof, and an assumption of another.
const (
	// angleError is the error of sincos.
	angleError = "1b-50"
	// smallError is the error of smallArc.
	smallError = "1b-58"
	// restError adds to it that its argument is off by two roundings, less than 2^-59.
	restError = "1b-57"
	// directionError bounds those of its table, see TestTurns.
	directionError = "1b-52"
	// turnError bounds those of a longitude from the centre, which lost 2^-45 + 2^-46 degrees
	// to a difference and to the wrapping.
	turnError = "1b-49"
	// centreError bounds how far the sine and the cosine of the centre are from those of one angle,
	// about which the exact projection is. TestCentreIsOnTheCircle looks at that.
	centreError = "1b-50"
	// nearError is the error of u and v near the centre. They are below 0.031, and the coefficients of
	// a series have up to twenty roundings, its sum a few more: that is below 2^-53.
	nearError = "1b-52"
	// shiftError is the error of conformalShift for a sine that is exact.
	shiftError = "1b-54"
	// upError, outError and normError are the errors of conformal's results.
	upError, outError, normError = "10b-53", "10b-53", "3b-53"
)

// TestFilters proves the bounds of float64 on which a location's lattice point, and the law
// of the noise, depend.
func TestFilters(t *testing.T) {
	coefficients := map[string]string{}
	for k, c := range shiftSeries {
		coefficients["t_"+string(rune('0'+k))] = gappa.Number(c)
	}
	gappa.Check(t, ".", []gappa.Proof{
		{
			// rest7 and rest8 are the remainders of the series.
			Script: gappa.Script{
				Name: "small angle",
				Of:   []gappa.Function{{Name: "smallArc", Only: []string{"result", "second"}}},
				After: `W = x * x;
S = x - x * (W * (1/6 - W * (1/120)));
C = W * (1/2 - W * (1/24 - W * (1/720)));
sin = (result - (S + rest7)) / ` + smallError + `;
sagitta = (second - (C + rest8)) / ` + smallError + `;`,
				Claim: `|x| <= 0.00625 /\ |rest7| <= 1b-63 /\ |rest8| <= 1b-63 -> |sin| <= @F@ /\ |sagitta| <= @F@`,
				Hints: `result - (S + rest7) -> (result - S) - rest7;
second - (C + rest8) -> (second - C) - rest8;`,
			},
			Needs:   0.16,
			Planted: []gappa.Edit{{File: "angle.go", Old: "w*(1./24-", New: "w*(1./25-"}},
		},
		{
			Script: gappa.Script{
				Name: "sine and cosine",
				Of:   []gappa.Function{{Name: "sincos", Only: []string{"result", "second"}, Bound: map[string]string{"t_sin": "u", "t_cos": "v"}}},
				After: `sin = (result - (U * (1 - C) + V * S)) / ` + angleError + `;
cos = (second - (V * (1 - C) - U * S)) / ` + angleError + `;`,
				Claim: `|U| <= 1 /\ |V| <= 1 /\ |S| <= 0.00625 /\ C in [0, 0.00002] /\ |s - S| <= ` + restError + ` /\ |c - C| <= ` + restError + `
/\ |u - U| <= ` + directionError + ` /\ |v - V| <= ` + directionError + ` -> |sin| <= @F@ /\ |cos| <= @F@`,
				Hints: `result - (U * (1 - C) + V * S) -> (result - (u + (v * s - u * c))) + (u - U) * (1 - c) + (v - V) * s + V * (s - S) - U * (c - C);
second - (V * (1 - C) - U * S) -> (second - (v - (u * s + v * c))) + (v - V) * (1 - c) - (u - U) * s - U * (s - S) - V * (c - C);`,
			},
			Needs:   0.4,
			Planted: []gappa.Edit{{File: "angle.go", Old: "float64(t.cos*s) - float64(t.sin*c)", New: "float64(t.cos*s) - float64(t.sin*c*(1+0x1p-30))"}},
		},
		{
			// Exactly is tanh(e*artanh(e*s)).
			Script: gappa.Script{
				Name: "shift to the conformal latitude",
				Of:   []gappa.Function{{Name: "conformalShift", Only: []string{"w", "result"}, Bound: coefficients}},
				After: `W = s * s;
model = s * (` + coefficients["t_0"] + ` + W * (` + coefficients["t_1"] + ` + W * (` + coefficients["t_2"] + ` + W * (` + coefficients["t_3"] + ` + W * (` + coefficients["t_4"] + ` + W * ` + coefficients["t_5"] + `)))));
exactly = model + rest;
error = (result - exactly) / ` + shiftError + `;`,
				Claim: `s in [-1, 1] /\ |rest| <= ` + seriesRest() + ` -> |error| <= @F@`,
				Hints: `result - exactly -> (result - model) - rest;`,
			},
			Needs:   0.93,
			Planted: []gappa.Edit{{File: "ellipsoid.go", Old: "w*(t[4]+float64(w*t[5]))", New: "w*(t[4]+float64(w*t[5]))*(1+0x1p-20)"}},
		},
		{
			// An error of the sine in shift moves the shift by at most e^2/(1-e^2) < 0.0068 of that
			// error. Its last product may be fused with the difference: 2^-60 is more than its rounding.
			// With shiftError that is less than 5/8 of 2^-53.
			Script: gappa.Script{
				Name: "conformal latitude",
				Of: []gappa.Function{{Name: "conformal", Only: []string{"result", "second", "third"}, Bound: map[string]string{
					"conformalShift": "shift",
				}}},
				After: `ROOT = sqrt(1 - T * T);
up = (result - (S - T)) / ` + upError + `;
out = (second - C * ROOT) / ` + outError + `;
norm = (third - (1 - T * S)) / ` + normError + `;`,
				Claim: `S in [-1, 1] /\ C in [0, 1] /\ T in [-0.0068, 0.0068] /\ S - T in [-1, 1]
/\ |sinPhi - S| <= ` + angleError + ` /\ |cosPhi - C| <= ` + angleError + ` /\ |shift - T| <= 5b-56
-> |up| <= @F@ /\ |out| <= @F@ /\ |norm| <= @F@`,
			},
			Needs:   0.98,
			Planted: []gappa.Edit{{File: "ellipsoid.go", Old: "1 - float64(t*sinPhi)\n}\n\n// shiftSeries", New: "1 - float64(t*(1+0x1p-44)*sinPhi)\n}\n\n// shiftSeries"}},
		},
		{
			// In units in which the diameter of the sphere is a number from 1 to 2. The cap where a
			// frame is used is c <= 50 degrees: cos c >= 0.64, sin c <= 0.77.
			Script: gappa.Script{
				Name: "image of a location",
				Of: []gappa.Function{
					{Name: "frame.project", Only: []string{"result", "second"}, Bound: map[string]string{
						"f_diameter": "d", "f_sin0": "sin0", "f_cos0": "cos0",
					}},
					{Name: "Domain.extremes", Prefix: "e_", Only: []string{"e_margin"}, Bound: map[string]string{"d_step": "1"}},
				},
				Before: `d = rnd(D);`,
				After: `EAST = OUT * SL; NORTH = C0 * UP - S0 * (OUT * CL); BELOW = NORM + S0 * UP + C0 * (OUT * CL);
K = D / BELOW;
x = (result - K * EAST) / D * 1.3e7 / (e_margin / 2);
y = (second - K * NORTH) / D * 1.3e7 / (e_margin / 2);
far = sqrt(x * x + y * y);`,
				Claim: `D in [1, 2] /\ |UP| <= 1 /\ OUT in [0, 1] /\ NORM in [0.993, 1] /\ |SL| <= 1 /\ CL in [0, 1] /\ |S0| <= 1 /\ C0 in [0, 1]
/\ BELOW in [1.62, 2.01] /\ |EAST| <= 0.77 /\ |NORTH| <= 0.77
/\ |up - UP| <= ` + upError + ` /\ |out - OUT| <= ` + outError + ` /\ |norm - NORM| <= ` + normError + ` /\ |sinL - SL| <= ` + turnError + ` /\ |cosL - CL| <= ` + turnError + `
/\ |sin0 - S0| <= ` + centreError + ` /\ |cos0 - C0| <= ` + centreError + `
-> far <= @F@`,
				Hints: `(result - K * EAST) / D -> (result - k * east) / D + (east - EAST) / BELOW + ((k - K) / K) * east / BELOW { D <> 0, BELOW <> 0 };
(second - K * NORTH) / D -> (second - k * north) / D + (north - NORTH) / BELOW + ((k - K) / K) * north / BELOW { D <> 0, BELOW <> 0 };
(k - K) / K -> (1 + (d - D) / D) / (1 + (below - BELOW) / BELOW) * (1 + (k - d / below) / (d / below)) - 1 { D <> 0, d <> 0, BELOW <> 0, below <> 0 };
east -> EAST + (east - EAST);
north -> NORTH + (north - NORTH);
below -> BELOW + (below - BELOW);
k -> K * (1 + (k - K) / K) { D <> 0, BELOW <> 0 };`,
			},
			Needs:   0.95,
			Planted: []gappa.Edit{{File: "scale.go", Old: "projectionError = 1e-7", New: "projectionError = 2e-8"}},
		},
		{
			Script: gappa.Script{
				Name: "image of a location near the centre",
				Of: []gappa.Function{
					{Name: "frame.projectNear", Only: []string{"result", "second"}, Bound: map[string]string{
						"f_diameter": "d", "f_sin0": "sin0", "f_cos0": "cos0",
					}},
					{Name: "Domain.extremes", Prefix: "e_", Only: []string{"e_margin"}, Bound: map[string]string{"d_step": "1"}},
				},
				Before: `d = rnd(D);`,
				After: `RE = 1 + S0 * U; IM = V * (U + S0);
BELOW = RE * RE + IM * IM;
K = D * C0 / BELOW;
EAST = V * RE - U * IM; NORTH = U * RE + V * IM;
x = (result - K * EAST) / 2 * 1.3e7 / (e_margin / 2);
y = (second - K * NORTH) / 2 * 1.3e7 / (e_margin / 2);
far = sqrt(x * x + y * y);`,
				Claim: `D in [1, 2] /\ |U| <= 0.03 /\ |V| <= 0.031 /\ |S0| <= 1 /\ C0 in [0, 1]
/\ |u - U| <= ` + nearError + ` /\ |v - V| <= ` + nearError + `
/\ |sin0 - S0| <= ` + centreError + ` /\ |cos0 - C0| <= ` + centreError + `
-> far <= @F@`,
				Hints: `result - K * EAST -> (result - k * east) + k * (east - EAST) + (k - K) * EAST;
second - K * NORTH -> (second - k * north) + k * (north - NORTH) + (k - K) * NORTH;
k - K -> (k - scale / below) + ((scale - D * C0) - (below - BELOW) * K) / below { below <> 0, BELOW <> 0 };
scale - D * C0 -> (scale - d * cos0) + (d - D) * cos0 + D * (cos0 - C0);
below - BELOW -> (below - (re * re + im * im)) + (re - RE) * (re + RE) + (im - IM) * (im + IM);
east - EAST -> (east - (v * re - u * im)) + (v - V) * re + V * (re - RE) - (u - U) * im - U * (im - IM);
north - NORTH -> (north - (u * re + v * im)) + (u - U) * re + U * (re - RE) + (v - V) * im + V * (im - IM);
re - RE -> (re - (1 + sin0 * u)) + sin0 * (u - U) + U * (sin0 - S0);
im - IM -> (im - v * (u + sin0)) + (v - V) * (u + sin0) + V * ((u - U) + (sin0 - S0));`,
			},
			Needs:   0.067,
			Planted: []gappa.Edit{{File: "frame.go", Old: "scale / below", New: "scale / (below * (1 + 0x1p-20))"}},
		},
		{
			Script: gappa.Script{
				Name:  "rate of the proposals",
				Of:    []gappa.Function{{Name: "newNoise", Only: []string{"proposal"}}},
				After: "share = proposal / rate; needed = 2 * share * share;",
				Claim: `rate in [1b-900, 1b900] -> needed <= @F@`,
				Hints: "share -> " + gappa.Number(proposalShare) + " * (1 + (proposal - rate * " + gappa.Number(proposalShare) + ") / (rate * " + gappa.Number(proposalShare) + ")) { rate <> 0 };",
			},
			Needs:   1,
			Planted: []gappa.Edit{{File: "noise.go", Old: "proposalShare = 0.7071067", New: "proposalShare = 0.7071068"}},
		},
		{
			// Longitudes are within 180 degrees of an origin, and latitudes within 90 of 0.
			Script: gappa.Script{
				Name: "side of an edge",
				Of: []gappa.Function{
					{Name: "toUnits", Prefix: "u_", Only: []string{"u_result"}, Bound: map[string]string{"degrees": "360"}},
					{Name: "edge.side", Only: []string{"Compare_1", "Compare_2"}},
				},
				After: "left = Compare_1 / 9223372036854775807; right = Compare_2 / 9223372036854775807;",
				Claim: `|(p_x - e_a_x) / u_result| <= 1 /\ |(e_b_x - e_a_x) / u_result| <= 1 /\ |(e_b_y - e_a_y) / u_result| <= 0.5 /\ |(p_y - e_a_y) / u_result| <= 0.5
-> |left| <= @F@ /\ |right| <= @F@`,
				Hints: `Compare_1 -> ((p_x - e_a_x) / u_result) * ((e_b_y - e_a_y) / u_result) * (u_result * u_result) { u_result <> 0 };
Compare_2 -> ((e_b_x - e_a_x) / u_result) * ((p_y - e_a_y) / u_result) * (u_result * u_result) { u_result <> 0 };`,
			},
			Needs:   0.71,
			Planted: []gappa.Edit{{File: "lattice.go", Old: "perDegree = 1e7", New: "perDegree = 1e8"}},
		},
	})
}

func TestCentreIsOnTheCircle(t *testing.T) {
	square := func(x float64) *big.Rat {
		r := new(big.Rat).SetFloat64(x)
		return r.Mul(r, r)
	}
	for lat := -90.0; lat <= 90; lat += 1. / 64 {
		f := centredFrame(lat, 0)
		norm := new(big.Rat).Add(square(f.sin0), square(f.cos0))
		if off, _ := norm.Sub(norm, big.NewRat(1, 1)).Float64(); math.Abs(off) > 0x1p-50 {
			t.Errorf("sine and cosine of the centre at %v have squares that sum to 1%+.3g", lat, off)
		}
	}
}

// seriesRest bounds the error of conformalShift: the terms beyond its series, see there, and
// the rounding of its coefficients.
func seriesRest() string {
	e2 := new(big.Rat).SetFrac64(1, 298257223563)
	e2.Mul(e2, big.NewRat(1e9, 1)) // flattening
	e2.Mul(e2, new(big.Rat).Sub(big.NewRat(2, 1), e2))
	exact := []*big.Rat{e2}
	rest, _ := new(big.Rat).SetString("5e-17")
	for k := range shiftSeries {
		if k > 0 {
			sum := new(big.Rat).Mul(big.NewRat(int64(2*k-1), 1), exact[k-1])
			for i := range k {
				sum.Sub(sum, new(big.Rat).Mul(exact[i], exact[k-1-i]))
			}
			exact = append(exact, sum.Mul(sum, e2).Quo(sum, big.NewRat(int64(2*k+1), 1)))
		}
		off := new(big.Rat).SetFloat64(shiftSeries[k])
		rest.Add(rest, off.Sub(off, exact[k]).Abs(off))
	}
	f, _ := rest.Float64()
	return gappa.Number(math.Nextafter(f, 1))
}
