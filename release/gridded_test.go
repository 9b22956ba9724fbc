package release

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// gridOf has n places on a grid in the city, with the steps and the offsets of latitudes and
// longitudes in units of 1e-7 degrees.
func gridOf(n int, lat, lon, latOffset, lonOffset int64) (all [][2]float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for range n {
		i, j := r.Int64N(600_000/lat+1), r.Int64N(2_000_000/lon+1)
		all = append(all, [2]float64{float64(488_100_000+latOffset+i*lat) / 1e7, float64(22_300_000+lonOffset+j*lon) / 1e7})
	}
	return all
}

// The step of a grid is found, with an offset or without, whatever the few that lie elsewhere,
// and however the places are split among workers.
func TestGrain(t *testing.T) {
	stray := gridOf(9, 1, 1, 0, 0)
	for _, c := range []struct {
		name     string
		places   [][2]float64
		lat, lon float64
	}{
		{"2 decimals", gridOf(1000, 100_000, 100_000, 0, 0), 0.01, 0.01},
		{"middles of cells", gridOf(1000, 100_000, 100_000, 50_000, 50_000), 0.01, 0.01},
		{"other steps", gridOf(1000, 25_000, 120_000, 10_000, 333), 0.0025, 0.012},
		{"7 decimals", gridOf(1000, 1, 1, 0, 0), 1e-7, 1e-7},
		{"1 % elsewhere", append(gridOf(991, 100_000, 100_000, 50_000, 0), stray...), 0.01, 0.01},
		{"more elsewhere", append(gridOf(500, 100_000, 100_000, 0, 0), stray...), 1e-7, 1e-7},
		{"beyond 7 decimals", [][2]float64{{48.123456789, 2.3}, {48.1, 2.4}, {48.2, 2.5}, {48.3, 2.6}}, 0, 0.1},
		{"three", gridOf(3, 100_000, 100_000, 0, 0), 0, 0},
		{"one place", [][2]float64{{48.85, 2.35}, {48.85, 2.35}, {48.85, 2.35}, {48.85, 2.35}, {48.85, 2.35}}, 0, 0},
		{"none", nil, 0, 0},
	} {
		for _, workers := range []int{1, 3} {
			lats, lons := make([]grain, workers), make([]grain, workers)
			for i, p := range c.places {
				lats[i%workers].add(p[0])
				lons[i%workers].add(p[1])
			}
			for w := range workers - 1 {
				lats[0].merge(&lats[w+1])
				lons[0].merge(&lons[w+1])
			}
			if lat, lon := lats[0].degrees(), lons[0].degrees(); lat != c.lat || lon != c.lon {
				t.Errorf("%s, %d workers: %v, %v, want %v, %v", c.name, workers, lat, lon, c.lat, c.lon)
			}
		}
	}
}

// A grid coarser than the noise is told by a dry run and by the release, with a share that holds,
// and by nothing that is written. Of n = 2000 released locations, fewer than the share would be
// nearest to their point of the grid with a probability below 1e-9 (Hoeffding).
func TestGriddedInput(t *testing.T) {
	const n, slack = 2000, 0.072
	places := gridOf(n, 100_000, 100_000, 0, 0)
	var cells []string
	for _, p := range places {
		cells = append(cells, fmt.Sprintf("%.2f,%.2f", p[0], p[1]))
	}
	for _, c := range []struct {
		epsilon *big.Rat
		told    bool
	}{{big.NewRat(3, 100), true}, {big.NewRat(1, 250), true}, {big.NewRat(1, 1000), false}} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), lines(cells...))
		s := newSpec(dir)
		s.Epsilon = c.epsilon
		l := openLedger(t, dir)
		f, err := DryRun(t.Context(), s, l)
		check(t, err)
		sum, err := attempt(s, small, l)
		check(t, err)
		if (len(f.Gridded) == 1) != c.told || fmt.Sprint(f.Gridded) != fmt.Sprint(sum.Gridded) {
			t.Fatalf("epsilon %v: %v, then %v", c.epsilon, f.Gridded, sum.Gridded)
		}
		for _, name := range inFolder(t, dir) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			check(t, err)
			if name != "in.csv" && strings.Contains(string(text), "grid of") {
				t.Errorf("%s tells of the grid", name)
			}
		}
		if !c.told {
			continue
		}
		g := f.Gridded[0]
		if g.LatStep != 0.01 || g.LonStep != 0.01 || g.North < 1111 || g.North > 1113 || g.East < 731 || g.East > 735 {
			t.Errorf("%+v", g)
		}
		nearest := 0.0
		for i, row := range readCSV(t, s.Out)[1:] {
			lat, lon := float(t, row[0]), float(t, row[1])
			if fmt.Sprintf("%.2f,%.2f", lat, lon) == cells[i] {
				nearest++
			}
		}
		if nearest/n < g.Returned-slack {
			t.Errorf("epsilon %v: %v of %d are nearest to their point, told %v", c.epsilon, nearest, n, g.Returned)
		}
		if r, err := planar.LaplaceLaw.Plane(g.Epsilon).Radius(0.5); err != nil || r < g.North || r > 1.2*g.North {
			t.Errorf("at epsilon %v half move %v m, %v", g.Epsilon, r, err)
		}
	}
}

// On a lattice as coarse as the grid there is nothing to tell.
func TestGridOfTheLattice(t *testing.T) {
	dir := t.TempDir()
	var cells []string
	for _, p := range gridOf(100, 1000, 1000, 0, 0) { // 11 m by 7 m
		cells = append(cells, fmt.Sprintf("%.4f,%.4f", p[0], p[1]))
	}
	write(t, filepath.Join(dir, "in.csv"), lines(cells...))
	s := newSpec(dir) // has steps of 10 m
	s.Epsilon = big.NewRat(10, 1)
	if f, err := DryRun(t.Context(), s, openLedger(t, dir)); err != nil || len(f.Gridded) != 0 {
		t.Errorf("%v, %v", f.Gridded, err)
	}
}

// The warning is one line, and has a cure.
func TestGriddedText(t *testing.T) {
	g := Gridded{Lat: "lat", Lon: "lon\n", LatStep: 0.01, LonStep: 0.00001, North: 1112.2, East: 366.6, Median: 56, Returned: 0.9999, Epsilon: 0.0015}
	const want = `lat, lon\n: the true locations lie on a grid of 0.01 by 0.00001 degrees (1112 by 367 m), and half of them move less than 56 m: ` +
		`at least 99 % of the released ones are nearest to the point of the grid that they come from and cluster around it, so the noise does little to hide which point that is; ` +
		`with --epsilon 0.0015, half of them would move farther than to the next point`
	if got := g.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
