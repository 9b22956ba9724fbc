package release

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/mechanism/planar"
)

// Tables of the owner have numbers of true locations, and nothing hides them. They go to files of their own in a folder of their own, and
// never into an output, its report or its metadata. Released locations do not depend on them.

// private is the first line of each table.
const private = "# NOT PRIVATE: numbers of true locations, for the owner of the data only. Do not publish this file."

// Distances between the locations of two pairs of columns are counted in rings.
const (
	ringMetres = 500
	rings      = 240
)

// bands are the ends of bands of rings, in kilometres.
var bands = [...]float64{0, 1, 2, 5, 10, 20, 50, 100, math.Inf(1)}

// tables count true and released locations.
type tables struct {
	regions *Regions
	plane   *density.Plane
	columns [][]both        // for each pair of columns, by region
	points  []map[int]int64 // for each pair of columns, the released ones by bin
	flows   [][]both        // from each pair of columns to the next one, by the two regions
	apart   [][]both        // the distances of these, by ring

	places []both     // of a row: regions
	drawn  []location // of a row
}

// both are a number of true locations and one of released ones, or the places of both.
type both [2]int64

// newTables returns empty tables, or nil if the spec wants none.
func (r *run) newTables() *tables {
	if r.tablePlane == nil {
		return nil
	}
	n, pairs := len(r.spec.Regions.names)+1, len(r.spec.Lat)
	t := &tables{regions: r.spec.Regions, plane: r.tablePlane, places: make([]both, pairs), drawn: make([]location, pairs)}
	for k := range pairs {
		t.columns, t.points = append(t.columns, make([]both, n)), append(t.points, map[int]int64{})
		if k > 0 {
			t.flows, t.apart = append(t.flows, make([]both, n*n)), append(t.apart, make([]both, rings))
		}
	}
	return t
}

// add counts a location of a row and its released one. The locations before it in the row have been added.
func (t *tables) add(k int, all []location, drawn location) {
	t.drawn[k] = drawn
	t.points[k][t.plane.Bin(drawn.lat, drawn.lon)]++
	for i, at := range [2]location{all[k], drawn} {
		region := t.regions.of(at.lat, at.lon)
		t.columns[k][region][i]++
		t.places[k][i] = int64(region)
	}
	if k == 0 || all[k-1].null {
		return
	}
	for i, ends := range [2][]location{all, t.drawn} {
		t.flows[k-1][int(t.places[k-1][i])*len(t.columns[k])+int(t.places[k][i])][i]++
		metres := planar.Distance(ends[k-1].lat, ends[k-1].lon, ends[k].lat, ends[k].lon)
		t.apart[k-1][min(int(metres/ringMetres), rings-1)][i]++
	}
}

func (t *tables) merge(other *tables) {
	for _, sums := range [][2][][]both{{t.columns, other.columns}, {t.flows, other.flows}, {t.apart, other.apart}} {
		for k := range sums[0] {
			for i, n := range sums[1][k] {
				sums[0][k][i][0] += n[0]
				sums[0][k][i][1] += n[1]
			}
		}
	}
	for k, points := range other.points {
		for bin, n := range points {
			t.points[k][bin] += n
		}
	}
}

// setTables checks where the tables go, and sets the law by which true numbers are recovered.
func (r *run) setTables() (err error) {
	s := r.spec
	if (s.Utility == "") != (s.Regions == nil) {
		return errors.New("tables of the owner need a folder and regions: give both --utility and --regions")
	}
	if s.Utility == "" {
		return nil
	}
	for _, out := range s.outs() {
		if err := checkApart(s.Utility, filepath.Dir(out)); err != nil {
			return err
		}
	}
	if r.tablePlane, err = density.NewFinePlane(r.mechanism); err != nil {
		return fmt.Errorf("tables of the owner: %w", err)
	}
	return nil
}

// checkApart returns an error if a folder is another one, or in it.
func checkApart(folder, published string) error {
	path, err := filepath.Abs(folder)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	for last := ""; path != last; last, path = path, filepath.Dir(path) {
		if sameFile(path, published) {
			return fmt.Errorf("%s is in the folder of the output, which may be published as a whole: tables of true locations need another folder", folder)
		}
	}
	return nil
}

// tableNames are the files of the tables: one for regions, and with several pairs of columns two more.
func (s *Spec) tableNames() (all []string) {
	if s.Utility == "" {
		return nil
	}
	for _, name := range []string{"regions.csv", "flows.csv", "distances.csv"}[:min(3, 2*len(s.Lat)-1)] {
		all = append(all, filepath.Join(s.Utility, name))
	}
	return all
}

// A Misplaced says how much of a table of the owner is noise: which share of the locations is counted in another place than in truth, by released
// locations and by recovered numbers. It is for the owner only.
type Misplaced struct {
	Table               string // its file
	Columns             string
	Released, Recovered float64
}

// A table is a table of the owner before it is written.
type table struct {
	head      []string // names of places
	rows      [][]string
	misplaced []Misplaced
}

// add adds the numbers of a pair of columns, or of two, by place. Places without any have no row.
func (t *table) add(columns string, numbers []both, recovered []float64, place func(i int) []string) {
	total, m := int64(0), Misplaced{Columns: columns}
	for i, n := range numbers {
		total += n[0]
		m.Released += math.Abs(float64(n[1] - n[0]))
		m.Recovered += math.Abs(recovered[i] - float64(n[0]))
		if n != (both{}) || recovered[i] >= 0.05 {
			row := append([]string{columns}, place(i)...)
			t.rows = append(t.rows, append(row, strconv.FormatInt(n[0], 10), strconv.FormatInt(n[1], 10), tenths(recovered[i]),
				strconv.FormatInt(n[1]-n[0], 10), tenths(recovered[i]-float64(n[0]))))
		}
	}
	m.Released, m.Recovered = m.Released/float64(max(2*total, 1)), m.Recovered/float64(max(2*total, 1))
	t.misplaced = append(t.misplaced, m)
}

func tenths(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func (t *table) write(to *file) error {
	return to.fill(func(w io.Writer) error {
		_, err := fmt.Fprintln(w, private)
		head := append(append([]string{"columns"}, t.head...), "true", "released", "recovered", "noise", "noise_recovered")
		return cmp.Or(err, csv.NewWriter(w).WriteAll(append([][]string{head}, t.rows...)))
	})
}

// writeTables writes the temporary files of the tables.
func (r *run) writeTables(ctx context.Context) error {
	all, err := r.tables.count(ctx, r)
	if err != nil {
		return err
	}
	r.misplaced = nil
	for i, f := range r.utility {
		if err := all[i].write(f); err != nil {
			return err
		}
		for _, m := range all[i].misplaced {
			m.Table = f.path
			r.misplaced = append(r.misplaced, m)
		}
	}
	return nil
}

// count returns the tables of regions, flows and distances.
func (t *tables) count(ctx context.Context, r *run) ([3]table, error) {
	regions, flows, distances := table{head: []string{"region"}}, table{head: []string{"from", "to"}}, table{head: []string{"from_km", "to_km"}}
	n, people := len(t.regions.names)+1, make([][]float64, len(t.columns))
	name := func(k int) string { return r.spec.Lat[k] + ", " + r.spec.Lon[k] }
	for k, numbers := range t.columns {
		population, err := t.plane.Population(ctx, t.points[k])
		if err != nil {
			return [3]table{}, err
		}
		people[k] = make([]float64, n)
		population.Each(t.plane.Side()/4, func(lat, lon, number float64) { people[k][t.regions.of(lat, lon)] += number })
		regions.add(name(k), numbers, people[k], func(i int) []string { return []string{t.regions.name(i)} })
	}
	law, err := density.Rings(r.noise(), ringMetres, rings)
	if err != nil {
		return [3]table{}, err
	}
	law = law.Twice()
	for k, numbers := range t.flows {
		columns := name(k) + " to " + name(k+1)
		flows.add(columns, numbers, rake(numbers, people[k], people[k+1]), func(i int) []string { return []string{t.regions.name(i / n), t.regions.name(i % n)} })
		apart := make([]int64, rings)
		for ring, n := range t.apart[k] {
			apart[ring] = n[1]
		}
		recovered, err := law.Population(ctx, nil, apart)
		if err != nil {
			return [3]table{}, err
		}
		inBands, estimates, band := make([]both, len(bands)-1), make([]float64, len(bands)-1), 0
		for ring, n := range t.apart[k] {
			if float64(ring)*ringMetres >= 1000*bands[band+1] {
				band++
			}
			inBands[band] = both{inBands[band][0] + n[0], inBands[band][1] + n[1]}
			estimates[band] += recovered[ring]
		}
		distances.add(columns, inBands, estimates, func(i int) []string {
			return []string{decimal.Format(bands[i]), decimal.Format(bands[i+1])}
		})
	}
	return [3]table{regions, flows, distances}, nil
}

// rake returns the flows nearest to released ones that leave and enter regions in the shares of the recovered populations (iterative proportional
// fitting: Deming and Stephan 1940).
func rake(flows []both, from, to []float64) []float64 {
	const (
		rounds = 50
		few    = 0.1 // a flow without a released one may still be one
	)
	n, raked, total := len(to), make([]float64, len(flows)), 0.0
	for i, f := range flows {
		raked[i] = float64(f[1]) + few
		total += float64(f[1])
	}
	fit := func(people []float64, at func(i int) int) {
		sums, all := make([]float64, n), 0.0
		for i, x := range raked {
			sums[at(i)] += x
		}
		for _, x := range people {
			all += x
		}
		for i, x := range raked {
			if x > 0 {
				raked[i] *= people[at(i)] / sums[at(i)] * total / all
			}
		}
	}
	if total == 0 {
		return make([]float64, len(flows))
	}
	for range rounds {
		fit(from, func(i int) int { return i / n })
		fit(to, func(i int) int { return i % n })
	}
	return raked
}

// openTables opens the files of the tables.
func (r *run) openTables() error {
	for _, path := range r.spec.tableNames() {
		f, err := r.openFile(path)
		if err != nil {
			return err
		}
		r.utility = append(r.utility, f)
	}
	return nil
}
