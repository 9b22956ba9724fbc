package census

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/mechanism/planar"
)

// records reads a file of the real data sets, which are not part of the project, without
// its header line.
func records(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(need.Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

// lodes reads the commutes of a LODES table, its places, and a domain around them.
func lodes(t *testing.T, od, placeFile string) (commutes []Commute, all []Place, d *planar.Domain) {
	t.Helper()
	value := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	south, west, north, east := 90.0, 180.0, -90.0, -180.0
	places := map[string]Place{}
	for _, r := range records(t, placeFile) {
		p := Place{value(r[1]), value(r[2])}
		places[r[0]], all = p, append(all, p)
		south, west, north, east = min(south, p.Lat), min(west, p.Lon), max(north, p.Lat), max(east, p.Lon)
	}
	for _, r := range records(t, od) {
		commutes = append(commutes, Commute{places[r[0]], places[r[1]], int64(value(r[2]))})
	}
	d, err := planar.NewDomain("lodes", south, west, north, east, 1)
	if err != nil {
		t.Fatal(err)
	}
	return commutes, all, d
}

// within returns the probability with which continuous planar Laplace noise of epsilon
// moves a home, at this distance from its workplace, to within another distance of it: an integral over the length of
// the noise, times the share of directions that lead there.
func within(epsilon, distance, reach float64) (p float64) {
	const steps = 4000
	h := 40 / epsilon / steps
	for k := range steps {
		r := (float64(k) + 0.5) * h
		share := 0.0
		switch cos := (r*r + distance*distance - reach*reach) / (2 * r * distance); {
		case cos <= -1 || distance == 0 && r < reach:
			share = 1
		case cos < 1:
			share = math.Acos(cos) / math.Pi
		}
		p += epsilon * epsilon * r * math.Exp(-epsilon*r) * share * h
	}
	return p
}

func TestWithin(t *testing.T) {
	for _, c := range []struct{ distance, reach, want float64 }{
		{0, 3.889720169867, 0.9}, {1e-6, 3.889720169867, 0.9}, // R1
		{30, 1e6, 1}, {1e6, 30, 0},
	} {
		if got := within(1, c.distance, c.reach); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// expected returns the shares of the buckets that releases of commutes have on average,
// from the distances alone, which are rounded to a twentieth of a mile.
func expected(epsilonPerMile float64, commutes []Commute) (shares [len(Buckets)]float64) {
	const step = 0.05
	jobs, total := map[int]float64{}, 0.0
	for _, c := range commutes {
		miles := planar.Distance(c.Home.Lat, c.Home.Lon, c.Work.Lat, c.Work.Lon) / MetresPerMile
		jobs[int(math.Round(miles/step))] += float64(c.Jobs)
		total += float64(c.Jobs)
	}
	for k, n := range jobs {
		below := 0.0
		for b := range shares {
			upTo := 1.0
			if b < len(upperMiles) {
				upTo = within(epsilonPerMile, float64(k)*step, upperMiles[b])
			}
			shares[b] += n / total * (upTo - below)
			below = upTo
		}
	}
	return shares
}

// LODES is released as the law says, and its original is that of the data sets' facts:
// distances on a sphere, which put a few jobs into another bucket. The jobs of a bucket
// are independent trials of different probabilities, for which Chernoff's bound holds
// with the mean of these (Hoeffding, Probability Inequalities for Sums of Bounded Random
// Variables, 1963, theorem 1); the rounding of the distances adds less than 0.0005.
func TestLODES(t *testing.T) {
	for _, c := range []struct {
		od, places string
		facts      [len(Buckets)]int64
	}{
		{"lodes_detroit_h3/od.csv.gz", "lodes_detroit_h3/cells.csv.gz", [...]int64{401_623, 309_080, 34_169, 31}},
		{"lodes_dc/od.csv.gz", "lodes_dc/blocks.csv.gz", [...]int64{132_563, 80, 0, 0}},
	} {
		commutes, places, d := lodes(t, c.od, c.places)
		settings := []Setting{{math.Ln2, 1.22}, {2.15, 3.86}}
		study := newStudy(t, d, settings, commutes...)
		study.Places = places
		jobs := study.original.total()
		for k, r := range rowsOf(t, study) {
			b := k % len(Buckets)
			want := expected(r.Level/r.Radius, commutes)[b]
			if !believable(r.Released, jobs, want, 0.0005) {
				t.Errorf("%s: %+v: share %.5f, not %.5f", c.od, r, float64(r.Released)/float64(jobs), want)
			}
			if math.Abs(float64(r.Original-c.facts[b])) > 1e-4*float64(jobs) {
				t.Errorf("%s: %+v, not %d", c.od, r, c.facts[b])
			}
			if math.Abs(r.EstimateError) > 0.008 { // of 0.044 to 0.052 in the first bucket, that of the released homes
				t.Errorf("%s: %+v: the commutes are not recovered", c.od, r)
			}
		}
	}
}
