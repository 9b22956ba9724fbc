package planar

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSquaredDistance(t *testing.T) {
	index := rapid.Int64Range(-saturation, saturation)
	cell := rapid.Custom(func(t *rapid.T) Cell { return Cell{index.Draw(t, "i"), index.Draw(t, "j")} })
	exact := func(a, b Cell) *big.Int {
		di, dj := big.NewInt(a.I-b.I), big.NewInt(a.J-b.J)
		return new(big.Int).Add(di.Mul(di, di), dj.Mul(dj, dj))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := cell.Draw(t, "a"), cell.Draw(t, "b"), cell.Draw(t, "c")
		d, want := a.SquaredDistance(b), exact(a, b)
		got := new(big.Int).SetUint64(d.hi)
		if got.Lsh(got, 64).Or(got, new(big.Int).SetUint64(d.lo)); got.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", got, want)
		}
		if d.Less(a.SquaredDistance(c)) != (want.Cmp(exact(a, c)) < 0) || !d.Less(farthest) {
			t.Fatalf("%v and %v from %v are in the wrong order", b, c, a)
		}
		root, _ := new(big.Float).SetInt(want).Float64()
		if root = math.Sqrt(root); math.Abs(a.Distance(b)-root) > 0x1p-50*root {
			t.Fatalf("distance %v, want %v", a.Distance(b), root)
		}
	})
}

// Against geodesics of GeographicLib at all places and scales of the golden file.
func TestDistance(t *testing.T) {
	near := 0
	for _, row := range readGolden(t, geodesics) {
		lat1, lon1, lat2, lon2, geodesic := row[4], row[5], row[6], row[7], row[8]
		tolerance := 1e-2
		if max(math.Abs(lat1), math.Abs(lat2)) < 60 && geodesic < 499e3 {
			near++
			tolerance = 1e-3
			if geodesic < 100e3 {
				tolerance = 2e-5
			}
		}
		// Coordinates have nine decimals: 1e-4 m.
		if got := Distance(lat1, lon1, lat2, lon2); !(math.Abs(got-geodesic) < tolerance*geodesic+2e-4) {
			t.Errorf("%v: %v m, not %v", row[4:8], got, geodesic)
		}
	}
	if near < 100 {
		t.Errorf("%d short geodesics tested", near)
	}
}

// Antipodes are half a circumference apart, whatever is rounded.
func TestDistanceOfAntipodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat, lon := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 0).Draw(t, "lon")
		if got := Distance(lat, lon, -lat, lon+180); !(math.Abs(got-20.0375e6) < 1e3) {
			t.Fatalf("%v m", got)
		}
	})
}

func TestDistanceAcrossTheAntimeridian(t *testing.T) {
	if got, want := Distance(10, 179.9, 10, -179.9), Distance(10, 0, 10, 0.2); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v m, not %v", got, want)
	}
}
