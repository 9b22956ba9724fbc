package report

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// washington is the box of the examples, metres of the lattice and epsilon of ln 4
// within 200 m.
var washington = Box{South: 38.79, West: -77.12, North: 39, East: -76.91}

const (
	washingtonStep    = 1.
	washingtonEpsilon = 0.0069314718056
)

// metresApart returns how far two locations of the box are from each other, to a
// thousandth.
func metresApart(lat, lon, zlat, zlon float64) float64 {
	return degree * math.Hypot(zlat-lat, (zlon-lon)*math.Cos(lat*math.Pi/180))
}

// laplace returns the domain of the examples and its mechanism.
func laplace(t testing.TB) (*planar.Domain, *planar.Laplace) {
	t.Helper()
	b := washington
	d, err := planar.NewDomain("washington", b.South, b.West, b.North, b.East, washingtonStep)
	if err != nil {
		t.Fatal(err)
	}
	mechanism, err := d.Laplace(exactEpsilon())
	if err != nil {
		t.Fatal(err)
	}
	return d, mechanism
}

func exactEpsilon() *big.Rat {
	epsilon, _ := new(big.Rat).SetString("0.0069314718056")
	return epsilon
}

// drawInside counts how far n releases of a location in the middle of the box are from
// it.
func drawInside(t testing.TB, n int, moved *Moves) {
	t.Helper()
	const lat, lon = 38.895, -77.015
	_, mechanism := laplace(t)
	source := exact.NewSource(nil)
	for range n {
		zlat, zlon := mechanism.Draw(source, lat, lon)
		moved.Add(metresApart(lat, lon, zlat, zlon))
	}
}

// released is the release of n homes and works around Washington, as a program would
// tell it: raw locations from a fixed pseudo-random sequence, drawn ones from the
// mechanism with the entropy of another, so that the page is always the same.
func released(t testing.TB, n int) Data {
	t.Helper()
	d, mechanism := laplace(t)
	radius, err := planar.LaplaceLaw.On(d, exactEpsilon()).Radius(0.95)
	if err != nil {
		t.Fatal(err)
	}
	data := Data{
		Public: Public{
			Output: "commuters.csv.gz", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Time: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC), Rows: int64(n) + 3,
			Kept: []string{"industry", "age"}, SetAside: true,
			Law: planar.LaplaceLaw, Epsilon: washingtonEpsilon, Level: math.Log(4), Radius: 200,
			Box: washington, Step: washingtonStep, Region: true,
			MeanError: 2 / washingtonEpsilon, Error95: radius,
		},
		Owner: &Owner{
			Input: "/office/raw/commuters.csv", Digest: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
			ID: "r-60303ae22b99", Ledger: "/office/budget.ledger", Account: "worker", Accounts: int64(n),
			Rejected: 12, Rejects: "/office/raw/rejects.csv",
		},
	}
	source, sequence := exact.NewSource(rand.NewChaCha8([32]byte{})), rand.New(rand.NewPCG(1, 2))
	for _, columns := range [][2]string{{"home_lat", "home_lon"}, {"work_lat", "work_lon"}} {
		l := Location{Lat: columns[0], Lon: columns[1], Released: NewGrid(washington)}
		o := OwnerLocation{Raw: NewGrid(washington), Moved: NewMoves(planar.LaplaceLaw.Plane(washingtonEpsilon))}
		for range n {
			lat, lon := 38.9+0.03*sequence.NormFloat64(), -77.02+0.04*sequence.NormFloat64()
			if d.Outside(lat, lon) {
				o.Outside++
			}
			zlat, zlon := mechanism.Draw(source, lat, lon)
			l.Released.Add(zlat, zlon)
			o.Raw.Add(lat, lon)
			o.Moved.Add(metresApart(lat, lon, zlat, zlon))
		}
		data.Public.Locations = append(data.Public.Locations, l)
		data.Owner.Locations = append(data.Owner.Locations, o)
	}
	return data
}

// written returns the page.
func written(t testing.TB, d Data) string {
	t.Helper()
	var page bytes.Buffer
	if err := Write(&page, d); err != nil {
		t.Fatal(err)
	}
	return page.String()
}
