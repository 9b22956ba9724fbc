package planar

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/nearest"
)

// A shape is a polygon of a test in units of 1e-7 degree: a shell and holes, each
// a list of vertices without the closing one.
type shape [][]vertex

// toWKT prints shapes as WKT, with the longitudes wrapped.
func toWKT(shapes ...shape) string {
	var polygons []string
	for _, s := range shapes {
		var rings []string
		for _, r := range s {
			var points []string
			for _, v := range append(r[:len(r):len(r)], r[0]) {
				points = append(points, fmt.Sprintf("%.7f %.7f", nearest.Wrap(float64(v.x)/perDegree), float64(v.y)/perDegree))
			}
			rings = append(rings, "("+strings.Join(points, ", ")+")")
		}
		polygons = append(polygons, "("+strings.Join(rings, ", ")+")")
	}
	if len(polygons) == 1 {
		return "POLYGON" + polygons[0]
	}
	return "MULTIPOLYGON(" + strings.Join(polygons, ", ") + ")"
}

// within decides by winding numbers in big integers whether a point lies in the
// closed shape: an implementation that shares nothing with the package's.
func (s shape) within(p vertex) bool {
	for k, r := range s {
		turns, edge := 0, false
		for n, a := range r {
			b := r[(n+1)%len(r)]
			cross := new(big.Int).Sub(
				new(big.Int).Mul(big.NewInt(b.x-a.x), big.NewInt(p.y-a.y)),
				new(big.Int).Mul(big.NewInt(p.x-a.x), big.NewInt(b.y-a.y))).Sign()
			edge = edge || cross == 0 && min(a.x, b.x) <= p.x && p.x <= max(a.x, b.x) &&
				min(a.y, b.y) <= p.y && p.y <= max(a.y, b.y)
			switch {
			case a.y <= p.y && p.y < b.y && cross > 0:
				turns++
			case b.y <= p.y && p.y < a.y && cross < 0:
				turns--
			}
		}
		if k == 0 && turns == 0 && !edge || k > 0 && turns != 0 && !edge {
			return false
		}
	}
	return true
}

// bruteForce lists the admissible points of a domain by asking about every
// lattice point near its box.
func bruteForce(d *Domain, shapes ...shape) map[Cell]bool {
	n := int64(d.reach/d.step) + 2
	admissible := map[Cell]bool{}
	for j := -n; j <= n; j++ {
		for i := -n; i <= n; i++ {
			p := d.print(Cell{i, j})
			offset := p.lon - toUnits(d.frame.lon0)
			if offset > 180*perDegree {
				offset -= 360 * perDegree
			} else if offset < -180*perDegree {
				offset += 360 * perDegree
			}
			x := toUnits(d.frame.lon0) + offset
			if p.lat < toUnits(d.box.South) || p.lat > toUnits(d.box.North) ||
				offset < -toUnits(d.box.Half) || offset > toUnits(d.box.Half) {
				continue
			}
			for _, s := range shapes {
				if s.within(vertex{x, p.lat}) {
					admissible[Cell{i, j}] = true
				}
			}
		}
	}
	return admissible
}

// slowNearest searches all admissible points in big integers.
func slowNearest(admissible map[Cell]bool, c Cell) Cell {
	square := func(x int64) *big.Int { return new(big.Int).Mul(big.NewInt(x), big.NewInt(x)) }
	var best Cell
	var least *big.Int
	for p := range admissible {
		distance := new(big.Int).Add(square(c.I-p.I), square(c.J-p.J))
		order := -1
		if least != nil {
			order = distance.Cmp(least)
		}
		if order < 0 || order == 0 && (p.J < best.J || p.J == best.J && p.I < best.I) {
			best, least = p, distance
		}
	}
	return best
}

// star draws a ring that does not cross itself: vertices at growing angles about
// a centre.
func star(t *rapid.T, label string, centre vertex, rx, ry float64) []vertex {
	n := rapid.IntRange(3, 9).Draw(t, label+" corners")
	var ring []vertex
	for k := range n {
		angle := 2 * math.Pi * (float64(k) + rapid.Float64Range(0, 0.9).Draw(t, label+" angle")) / float64(n)
		r := rapid.Float64Range(0.15, 1).Draw(t, label+" radius")
		sin, cos := math.Sincos(angle)
		ring = append(ring, vertex{centre.x + int64(rx*r*cos), centre.y + int64(ry*r*sin)})
	}
	return ring
}

// comb draws a ring with enough edges for slabs: a spine along a parallel, and teeth to
// the north that are thin or broad, slanted, or so short that they touch the spine. On its
// side it has them to the east.
func comb(t *rapid.T, label string, centre vertex, rx, ry float64) []vertex {
	teeth := rapid.IntRange(5, 20).Draw(t, label+" teeth")
	side := rapid.Bool().Draw(t, label+" on its side")
	if side {
		rx, ry = ry, rx
	}
	slant := rapid.Float64Range(-1, 1).Draw(t, label+" slant")
	var ring []vertex
	put := func(x, y float64) {
		v := vertex{int64(rx * (x + slant*y) / 2), int64(ry * y)}
		if side {
			v = vertex{v.y, v.x}
		}
		ring = append(ring, vertex{centre.x + v.x, centre.y + v.y})
	}
	for k := range teeth {
		at := func(part float64) float64 { return 2*(float64(k)+part)/float64(teeth) - 1 }
		broad := rapid.SampledFrom([]float64{0, 0.3, 0.9}).Draw(t, label+" breadth")
		height := rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, label+" height")
		put(at(0), 0)
		put(at(0.05), height)
		put(at(0.05+broad), height)
	}
	put(1, 0)
	put(1, -0.5)
	put(-1, -0.5)
	return ring
}

// outline draws a ring.
func outline(t *rapid.T, label string, centre vertex, rx, ry float64) []vertex {
	if rapid.Bool().Draw(t, label+" is a comb") {
		return comb(t, label, centre, rx, ry)
	}
	return star(t, label, centre, rx, ry)
}

var regionDomains = []struct{ south, west, north, east, step float64 }{
	{39.99, 115.99, 40.01, 116.01, 60},
	{-0.01, -0.01, 0.01, 0.01, 70},
	{-18.01, 179.99, -17.99, -179.99, 60},
	{65.5, -180, 65.52, -179.95, 50},
	{79.98, 20, 80.02, 20.2, 100},
	{-30, 10, 10, 60, 150e3},
	{60, 100, 88, -130, 100e3},
	{30.0000001, 40.0000002, 30.000004, 40.000005, 0.012}, // printing moves points by steps
}

// The strips, and the nearest point of every drawn point, agree with brute force:
// stars and combs with holes, islands, slivers, points near and far. Polygons and holes
// overlap, touch, and reach out of the box.
func TestRegionAgainstBruteForce(t *testing.T) {
	for _, b := range trials.Some(t, 4, regionDomains...) {
		d := mustDomain(t, b.south, b.west, b.north, b.east, b.step)
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkAgainstBruteForce(t, d) })
		})
	}
}

func checkAgainstBruteForce(t *rapid.T, d *Domain) {
	width, height := 2*d.box.Half*perDegree, (d.box.North-d.box.South)*perDegree
	point := func(label string) vertex {
		return vertex{
			toUnits(d.frame.lon0) + int64(width*rapid.Float64Range(-.5, .5).Draw(t, label+" x")),
			toUnits(d.box.South) + int64(height*rapid.Float64Range(0, 1).Draw(t, label+" y")),
		}
	}
	if !d.box.CrossesAntimeridian() && (d.box.West == -180 || d.box.East == 180) {
		// Polygons are not unwrapped here: keep them on this side.
		width *= 0.3
	}
	var shapes []shape
	for k := range rapid.IntRange(1, 3).Draw(t, "polygons") {
		label := fmt.Sprintf("shell %d", k)
		centre := point(label)
		rx, ry := width*rapid.Float64Range(0.02, 0.5).Draw(t, label+" rx"), height*rapid.Float64Range(0.02, 0.5).Draw(t, label+" ry")
		ry = min(ry, 90*perDegree-float64(max(centre.y, -centre.y)))
		s := shape{outline(t, label, centre, rx, ry)}
		for n := range rapid.IntRange(0, 2).Draw(t, label+" holes") {
			s = append(s, outline(t, fmt.Sprintf("%s hole %d", label, n), centre, rx*0.6, ry*0.6))
		}
		shapes = append(shapes, s)
		if rapid.Bool().Draw(t, label+" touches its hole") {
			shapes = append(shapes, shape{s[len(s)-1]})
		}
	}
	text := toWKT(shapes...)
	admissible := bruteForce(d, shapes...)
	region, err := d.WithRegion(t.Context(), text)
	if err != nil {
		if len(admissible) == 0 || strings.Contains(err.Error(), "enclose an area") ||
			strings.Contains(err.Error(), "crosses itself") { // rounded to a line
			return
		}
		t.Fatalf("%s: %v", text, err)
	}
	if found := points(region.region.strips); !maps.Equal(found, admissible) {
		t.Fatalf("%s: %d points, brute force finds %d", text, len(found), len(admissible))
	}
	spread := int64(d.reach/d.step) * 2
	for k := range 40 {
		if k == 30 {
			spread = saturation
		}
		c := Cell{rand.Int64N(2*spread+1) - spread, rand.Int64N(2*spread+1) - spread}
		if got, want := region.Admissible(c), slowNearest(admissible, c); got != want {
			t.Fatalf("%s: %v moves to %v, brute force to %v", text, c, got, want)
		}
	}
}

func count(r *region) int {
	n := 0
	for _, u := range r.strips {
		n += int(u.hi-u.lo) + 1
	}
	return n
}

// Ties go south, then west. The region is a ring of lattice points around a hole
// centred on a lattice point.
func TestNearestTies(t *testing.T) {
	d, err := gridDomain(t).WithRegion(t.Context(), "POLYGON((115.9960 39.9969, 116.0040 39.9969, 116.0040 40.0031, 115.9960 40.0031, "+
		"115.9960 39.9969), (115.9972 39.9978, 116.0028 39.9978, 116.0028 40.0022, 115.9972 40.0022, 115.9972 39.9978))")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to Cell }{
		{Cell{0, 0}, Cell{0, -3}},
		{Cell{1, 1}, Cell{3, 1}}, // (1,3) is as near
		{Cell{-1, 1}, Cell{-3, 1}},
		{Cell{-1, -1}, Cell{-1, -3}}, // (-3,-1) is as near
		{Cell{-1, 0}, Cell{-3, 0}},
		{Cell{2, 2}, Cell{3, 2}},
		{Cell{-2, -2}, Cell{-2, -3}},
		{Cell{9, 9}, Cell{3, 3}},
		{Cell{saturation, 0}, Cell{3, 0}},
		{Cell{-saturation, -saturation}, Cell{-3, -3}},
		{Cell{3, -1}, Cell{3, -1}},
	} {
		if got := d.Admissible(c.from); got != c.to {
			t.Errorf("%v moves to %v, want %v", c.from, got, c.to)
		}
	}
}

// Rims of shells and holes are admissible. Around the origin of degrees, points of row 0
// lie on the equator and those of column 0 on the meridian.
func TestRegionIsClosed(t *testing.T) {
	d := mustDomain(t, -0.01, -0.01, 0.01, 0.01, 10)
	region, err := d.WithRegion(t.Context(), "POLYGON((0 0, 0.01 0, 0.01 0.01, 0 0.01, 0 0))")
	if err != nil {
		t.Fatal(err)
	}
	pierced, err := d.WithRegion(t.Context(),
		"POLYGON((-0.01 -0.01, 0.01 -0.01, 0.01 0.01, -0.01 0.01, -0.01 -0.01), (0 0, 0.005 0, 0.005 0.005, 0 0.005, 0 0))")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    *Domain
		c    Cell
		want bool
	}{
		{region, Cell{0, 0}, true}, {region, Cell{5, 0}, true}, {region, Cell{0, 5}, true}, {region, Cell{5, 5}, true},
		{region, Cell{5, -1}, false}, {region, Cell{-1, 5}, false}, {region, Cell{-1, 0}, false}, {region, Cell{0, -1}, false},
		{pierced, Cell{0, 0}, true}, {pierced, Cell{5, 0}, true}, {pierced, Cell{0, 5}, true}, {pierced, Cell{5, 5}, false},
		{pierced, Cell{5, 1}, false}, {pierced, Cell{1, 5}, false}, {pierced, Cell{5, -1}, true}, {pierced, Cell{-1, 5}, true},
	} {
		if got := c.d.Admissible(c.c) == c.c; got != c.want {
			t.Errorf("%v is admissible: %v", c.c, got)
		}
	}
}

// An antimeridian box takes a region written across it or in two halves.
func TestRegionAcrossTheAntimeridian(t *testing.T) {
	fiji := mustDomain(t, -20, 177, -16, -178, 5000)
	across, err := fiji.WithRegion(t.Context(), "POLYGON((178 -19, -179 -19, -179 -17, 178 -17, 178 -19))")
	if err != nil {
		t.Fatal(err)
	}
	halves, err := fiji.WithRegion(t.Context(), "MULTIPOLYGON(((178 -19, 180 -19, 180 -17, 178 -17, 178 -19)), "+
		"((-180 -19, -179 -19, -179 -17, -180 -17, -180 -19)))")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := count(across.region), count(halves.region); a != b || a < 2500 {
		t.Errorf("%d points across, %d in halves", a, b)
	}
}

func TestWithRegionRefuses(t *testing.T) {
	d := mustDomain(t, 39.9, 116.2, 40.1, 116.5, 100)
	for _, c := range []struct{ wkt, want string }{
		{"", "does not parse"},
		{"POLYGON((1 2", "does not parse"},
		{"POLYGON((a b, c d, e f, a b))", "does not parse"},
		{"POLYGON EMPTY", "empty"},
		{"MULTIPOLYGON EMPTY", "empty"},
		{"POINT(116 40)", "not a POINT"},
		{"LINESTRING(116 40, 117 41)", "not a LINESTRING"},
		{"GEOMETRYCOLLECTION(POINT(116 40))", "not a GEOMETRYCOLLECTION"},
		{"POLYGON((116.2 39.9, 116.5 39.9, 116.5 40.1, 116.2 40.1))", "end where it starts"},
		{"POLYGON((116.2 39.9, 116.5 39.9, 116.2 39.9))", "enclose an area"},
		{"POLYGON((116.2 39.9, 116.3 39.9, 116.5 39.9, 116.2 39.9))", "enclose an area"},
		{"POLYGON((116.2 39.9, 116.2 39.9, 116.2 39.9, 116.2 39.9))", "enclose an area"},
		{"POLYGON((116.2 39.9, 116.5 40.1, 116.5 39.9, 116.2 40.1, 116.2 39.9))", "crosses itself"},
		{"POLYGON((116.2 39.9, 116.5 39.9, 116.4 39.9, 116.4 40.1, 116.2 39.9))", "crosses itself"},
		{"POLYGON((116.2 39.9, 116.5 39.9, 116.5 40.1, 116.2 39.9), (116.3 39.95, 116.3 39.95, 116.3 39.95))", "enclose an area"},
		{"POLYGON((39.9 116.2, 40.1 116.2, 40.1 116.5, 39.9 116.5, 39.9 116.2))", "latitude (lat) within 90"},
		{"POLYGON((116.2 NaN, 116.5 39.9, 116.5 40.1, 116.2 NaN))", ""},
		{"POLYGON((116.2 1e999, 116.5 39.9, 116.5 40.1, 116.2 1e999))", ""},
		{"POLYGON((2 48, 3 48, 3 49, 2 48))", "lon lat"},
		{"POLYGON((116.30001 39.95001, 116.30002 39.95001, 116.30002 39.95002, 116.30001 39.95001))", "lon lat"},
	} {
		_, err := d.WithRegion(t.Context(), c.wkt)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "wkt ") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", c.wkt, err)
		}
	}
}

// A polygon that is too large is refused at once: these rings cross
// themselves, too.
func TestWithRegionRefusesEarly(t *testing.T) {
	fine := mustDomain(t, 39, 115, 41, 117, 0.01)
	var teeth strings.Builder
	for k := range 20_000 {
		fmt.Fprintf(&teeth, "%.5f 39.9, %.5f 40.1, ", 116+float64(k)*1e-5, 116+float64(k)*1e-5)
	}
	for name, c := range map[string]struct {
		d         *Domain
		wkt, want string
	}{
		"20 million rows":      {fine, "POLYGON((115 39, 117 41, 117 39, 115 41, 115 39))", "coarser step"},
		"40,000 tall edges":    {mustDomain(t, 39, 115, 41, 117, 1), "POLYGON((" + teeth.String() + "115 39, 117 41, 116 39.9))", "coarser step"},
		"many polygons":        {fine, "MULTIPOLYGON(((115 39, 115.2 39, 115 39.2, 115 39))" + strings.Repeat(", ((115 39, 115.2 39, 115 39.2, 115 39))", 3) + ")", "coarser step"},
		"more than all points": {fine, "POLYGON((" + strings.Repeat("1 1, ", maxPoints) + "1 1))", "wkt has 1000001 points, more than 1000000"},
		"long text":            {fine, "POLYGON((" + strings.Repeat(" ", maxText), "wkt has 64 MB, more than 64"},
	} {
		if _, err := c.d.WithRegion(t.Context(), c.wkt); err == nil || !strings.HasPrefix(err.Error(), "wkt ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An expiring context is cancelled after it was asked so many times.
type expiring struct {
	context.Context
	left atomic.Int64
}

func (e *expiring) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A region gives up wherever it notices that it is to, and notices soon: no more than a
// few thousand steps pass between two looks.
func TestWithRegionIsInterrupted(t *testing.T) {
	d := mustDomain(t, 39.9, 115.9, 40.1, 116.1, 5)
	var teeth strings.Builder
	for k := range 6000 {
		fmt.Fprintf(&teeth, "%.6f 40, %.6f 40.002, ", 116+float64(k)*1e-5, 116.000005+float64(k)*1e-5)
	}
	combed := "POLYGON((" + teeth.String() + "116.07 40, 116.07 39.95, 116 39.95, 116 40), (116.01 39.96, 116.02 39.96, 116.02 39.97, 116.01 39.96))"
	many := "MULTIPOLYGON(((116.01 39.96, 116.02 39.96, 116.02 39.97, 116.01 39.96))" +
		strings.Repeat(", ((116.03 39.96, 116.04 39.96, 116.04 39.97, 116.03 39.96))", 50) + ")"
	for name, c := range map[string]struct {
		wkt   string
		looks int64
	}{
		"a comb":        {combed, 3 + 6 + 3 + 3 + 1000}, // measure, sweep, slabs listed and sorted, rows
		"many polygons": {many, 51 * 200},
	} {
		const plenty = 1 << 40
		ctx := &expiring{Context: t.Context()}
		ctx.left.Store(plenty)
		if _, err := d.WithRegion(ctx, c.wkt); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		looks := plenty - ctx.left.Load()
		if looks < c.looks {
			t.Errorf("%s: looked %d times, want %d", name, looks, c.looks)
		}
		for n := int64(0); n < looks; n += 1 + n/10 {
			ctx.left.Store(n)
			if r, err := d.WithRegion(ctx, c.wkt); r != nil || err != context.Canceled {
				t.Fatalf("%s: cancelled at look %d of %d: %v", name, n, looks, err)
			}
		}
	}
}

// WithRegion leaves the domain it is called on as it was.
func TestWithRegionCopies(t *testing.T) {
	d := gridDomain(t)
	if _, err := d.WithRegion(t.Context(), concave); err != nil || d.region != nil {
		t.Errorf("region %v, error %v", d.region, err)
	}
}

func FuzzWithRegion(f *testing.F) {
	for _, seed := range []string{
		concave, "POLYGON((178 -19, -179 -19, -179 -17, 178 -17, 178 -19))", "POLYGON EMPTY", "POINT(1 2)",
		"POLYGON((116 40, 116.001 40, 116 40.001, 116 40), (116 40, 1 1, 2 2, 116 40))",
		"POLYGON((-180 -90, 180 -90, 180 90, -180 90, -180 -90))", "MULTIPOLYGON(((", "POLYGON((116 4e1,",
	} {
		f.Add(seed)
	}
	grid := gridDomain(f)
	fiji := mustDomain(f, -20, 177, -16, -178, 5000)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*Domain{grid, fiji} {
			restricted, err := d.WithRegion(t.Context(), text)
			if err != nil {
				continue
			}
			for _, c := range []Cell{{0, 0}, {-5, 3}, {saturation, -saturation}} {
				z := restricted.Admissible(c)
				lat, lon := restricted.Location(z)
				if restricted.Admissible(z) != z || d.Outside(lat, lon) {
					t.Fatalf("%q: %v moves to %v at %v %v", text, c, z, lat, lon)
				}
			}
		}
	})
}

// Ties are kept over all of the tree: sets of points that eight symmetries map to themselves
// have ties for every point near their centre.
func TestNearestTiesOfSymmetricSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 300 {
		admissible := map[Cell]bool{}
		for range 40 {
			x, y := 20+r.Int64N(20), r.Int64N(30)
			for _, p := range []Cell{{x, y}, {y, x}} {
				for _, q := range []Cell{{p.I, p.J}, {-p.I, p.J}, {p.I, -p.J}, {-p.I, -p.J}} {
					admissible[q] = true
				}
			}
		}
		var strips []strip
		for c := range admissible {
			strips = append(strips, strip{int32(c.J), int32(c.I), int32(c.I)})
		}
		strips, err := union(t.Context(), strips)
		if err == nil {
			strips, err = sorted(t.Context(), strips, strip.zKey)
		}
		if err != nil {
			t.Fatal(err)
		}
		region := newRegion(strips, 0)
		if region.leaves < 8 {
			t.Fatalf("%d leaves", region.leaves)
		}
		for _, c := range []Cell{{0, 0}, {1, 1}, {0, 1}, {-2, 0}, {-3, 3}, {r.Int64N(80) - 40, r.Int64N(80) - 40}} {
			if got, want := region.nearest(c), slowNearest(admissible, c); got != want {
				t.Fatalf("%v moves to %v, want %v", c, got, want)
			}
		}
	}
}
