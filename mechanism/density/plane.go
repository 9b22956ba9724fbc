package density

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/planar"
)

const (
	// MaxCells bounds the cells of a [Plane].
	MaxCells = 1 << 16

	// maxPlaces bounds the cells of a plane for priors: a remap visits each.
	maxPlaces = 1 << 14

	// maxSide bounds a side of the grid of bins.
	maxSide = 1 << 9

	// fine is the least rate per step of a lattice that noise is summed over. The noise of a finer lattice is summed over one of
	// this rate, from which it differs by less than a thousandth in each bin.
	fine = 1. / 64
)

// A Plane estimates where the locations are behind points that a planar mechanism has released: how many are in each cell of a
// grid over the domain. Locations are in the box, or have been moved to it; released points may be beyond. It is immutable and safe for
// concurrent use.
//
// Points are counted in bins, the cells of a larger grid that goes on around the first. The bins at its border, which noise
// hardly reaches, have the points beyond it too.
type Plane struct {
	mechanism planar.Mechanism
	grid      planar.Grid
	kernel    kernel
	moved     []move // by a region
}

// A move is the share of a bin's drawn points that a region moves to another.
type move struct {
	from, to int
	share    float64
}

// NewPlane returns the plane of a mechanism over the grid with cells of cellM metres. Errors name cell_m.
func NewPlane(m planar.Mechanism, cellM float64) (*Plane, error) {
	grid, around, err := fit(m, cellM, MaxCells)
	if err != nil {
		return nil, err
	}
	columns, rows := grid.Size()
	p := &Plane{m, grid, newKernel(m.Accuracy(), cellM, m.Domain().Step(), int(columns), int(rows), around), nil}
	if m.Domain().HasRegion() {
		p.moved = p.moves()
	}
	return p, nil
}

// NewPriorPlane returns the plane of a mechanism for priors. Its cells are as wide as the noise, one divided by epsilon, but at most a 16th of
// the box, and wider where there would be more than maxPlaces.
func NewPriorPlane(m planar.Mechanism) (*Plane, error) { return newPlane(m, maxPlaces) }

// NewFinePlane returns the same for other uses, with cells that are wider only where there would be more than [MaxCells].
func NewFinePlane(m planar.Mechanism) (*Plane, error) { return newPlane(m, MaxCells) }

// newPlane returns a plane of at most so many cells.
func newPlane(m planar.Mechanism, most int64) (*Plane, error) {
	_, side := m.Accuracy().Reach(0)
	side = min(side, m.Domain().Side()/16)
	for ; side < m.Domain().Side(); side *= 1.25 {
		if _, _, err := fit(m, side, most); err == nil {
			return NewPlane(m, side)
		}
	}
	return nil, errors.New("epsilon is too small to tell where in the domain's box people are")
}

// fit returns the grid with cells of cellM metres, at most so many, and how many cells around it noise reaches.
func fit(m planar.Mechanism, cellM float64, most int64) (grid planar.Grid, around int, err error) {
	if grid, err = m.Domain().Grid(cellM); err != nil {
		return grid, 0, err
	}
	columns, rows := grid.Size()
	if columns*rows > most {
		return grid, 0, fmt.Errorf("cell_m %s makes a grid of %d x %d cells, the limit is %d", decimal.Format(cellM), columns, rows, most)
	}
	reach, _ := m.Accuracy().Reach(1 - unexplained/2)
	reached := math.Ceil(reach/cellM) + 1
	if float64(max(columns, rows))+2*reached > maxSide {
		return grid, 0, fmt.Errorf("cell_m %s is too small beside noise that may lead %.3g m away", decimal.Format(cellM), reach)
	}
	return grid, int(reached), nil
}

// Side returns the side of the cells in metres.
func (p *Plane) Side() float64 { return p.grid.Side() }

// Bin returns the bin of a released point, in degrees.
func (p *Plane) Bin(lat, lon float64) int {
	return p.bin(p.grid.At(p.grid.Domain().Reported(lat, lon)))
}

// bin returns the bin of a column and a row of the larger grid. Those beyond are moved to it.
func (p *Plane) bin(column, row float64) int {
	k := &p.kernel
	x := max(0, min(int(max(-maxSide, min(column, maxSide)))+k.west, k.width-1))
	y := max(0, min(int(max(-maxSide, min(row, maxSide)))+k.south, k.height-1))
	return y*k.width + x
}

// moves returns where the region moves the points of each bin, by a few in each: points are taken to be evenly drawn over a bin.
func (p *Plane) moves() (moved []move) {
	k, samples := &p.kernel, 4 // along a side
	if k.width*k.height > 1<<14 {
		samples = 2 // of bins that are small beside the noise
	}
	for from := range k.width * k.height {
		shares := map[int]float64{}
		for i := range samples * samples {
			column := float64(from%k.width-k.west) + (float64(i%samples)+0.5)/float64(samples)
			row := float64(from/k.width-k.south) + (float64(i/samples)+0.5)/float64(samples)
			shares[p.bin(p.grid.At(p.grid.Domain().Admissible(p.grid.Nearest(column, row))))] += 1 / float64(samples*samples)
		}
		if shares[from] == 1 {
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(shares)) {
			moved = append(moved, move{from, to, shares[to]})
		}
	}
	return moved
}

// Population returns an estimate from the number of released points in each bin. If the context is cancelled, it returns its error.
func (p *Plane) Population(ctx context.Context, points map[int]int64) (*Population, error) {
	law := &planeLaw{p, newTransform(p.kernel.width, p.kernel.height)}
	counts, n := make([]int64, law.bins()), int64(0)
	for bin, points := range points {
		counts[bin] = points
		n += points
	}
	cells, steps, err := population(ctx, law, nil, counts)
	return &Population{p, n, steps, cells}, err
}

// A planeLaw is the law of a plane, with memory for its sums.
type planeLaw struct {
	*Plane
	transform *transform
}

func (l *planeLaw) cells() int { return l.kernel.columns * l.kernel.rows }
func (l *planeLaw) bins() int  { return l.kernel.width * l.kernel.height }

func (l *planeLaw) release(bins, cells pair) {
	t, k := l.transform, &l.kernel
	for h, numbers := range [2][]float64{t.re, t.im} {
		clear(numbers)
		for row := range k.rows {
			copy(numbers[(row+k.south)*k.width+k.west:], cells[h][row*k.columns:(row+1)*k.columns])
		}
	}
	k.convolve(t)
	for h, numbers := range [2][]float64{t.re, t.im} {
		copy(bins[h], numbers)
		for _, m := range l.moved {
			bins[h][m.from] = 0
		}
		for _, m := range l.moved {
			bins[h][m.to] += float64(m.share * numbers[m.from])
		}
	}
}

func (l *planeLaw) blame(cells, weights pair) {
	t, k := l.transform, &l.kernel
	for h, numbers := range [2][]float64{t.re, t.im} {
		copy(numbers, weights[h])
		for _, m := range l.moved {
			numbers[m.from] = 0
		}
		for _, m := range l.moved {
			numbers[m.from] += float64(m.share * weights[h][m.to])
		}
	}
	k.convolve(t)
	for h, numbers := range [2][]float64{t.re, t.im} {
		for row := range k.rows {
			copy(cells[h][row*k.columns:(row+1)*k.columns], numbers[(row+k.south)*k.width+k.west:])
		}
	}
}

// A Population is an estimate of how many locations there are in each cell of a grid.
type Population struct {
	*Plane
	points int64
	steps  int
	cells  []float64
}

// Points returns the number of released points.
func (p *Population) Points() int64 { return p.points }

// Each visits parts of the cells, squares of at most so many metres, with the locations of their middles and their parts of the numbers.
func (p *Population) Each(metres float64, visit func(lat, lon, n float64)) {
	parts := math.Ceil(p.grid.Side() / metres)
	for cell, n := range p.cells {
		column, row := float64(cell%p.kernel.columns), float64(cell/p.kernel.columns)
		for i := range int(parts * parts) {
			x, y := math.Mod(float64(i), parts), math.Floor(float64(i)/parts)
			lat, lon := p.grid.Domain().Location(p.grid.Nearest(column+(x+0.5)/parts, row+(y+0.5)/parts))
			visit(lat, lon, n/(parts*parts))
		}
	}
}

// Prior returns the population as a prior: the middles of cells with their numbers. Cells with less than a millionth of the
// largest number are left out.
func (p *Population) Prior() (*planar.Prior, error) {
	domain := p.grid.Domain()
	builder := planar.NewPriorBuilder(domain)
	least := slices.Max(p.cells) / 1e6
	for cell, n := range p.cells {
		if n > least {
			column, row := cell%p.kernel.columns, cell/p.kernel.columns
			lat, lon := domain.Location(p.grid.Nearest(float64(column)+0.5, float64(row)+0.5))
			builder.Add(lat, lon, n)
		}
	}
	return builder.Prior()
}

// AppendGeoJSON appends the population as a GeoJSON FeatureCollection on one line (RFC 7946). Each cell is a Polygon with the
// property count, rounded to hundredths; cells that round to 0 are left out. The members cell_m, epsilon, points and steps say
// how it was made.
func (p *Population) AppendGeoJSON(b []byte) []byte {
	eps, _ := p.mechanism.Price().Amount.Rat().Float64()
	b = fmt.Appendf(b, `{"type":"FeatureCollection","cell_m":%s,"epsilon":%s,"points":%d,"steps":%d,"features":[`,
		decimal.Format(p.grid.Side()), decimal.Format(eps), p.points, p.steps)
	comma := false
	for cell, n := range p.cells {
		if n < 0.005 {
			continue
		}
		if comma {
			b = append(b, ',')
		}
		b, comma = p.grid.AppendFeature(b, int64(cell), string(appendCount(nil, n))), true
	}
	return append(b, `]}`...)
}

// A kernel is the law of the noise between squares of a grid: cells, which are the bins from column west and row south on.
//
// With x even over a cell, and the cell's place on the lattice even too, the noise moves x to the bin that is d columns away
// with the probability that x, plus noise, plus half a step either way in which rounding takes part, lies there. So the law
// depends on differences of bins only, and its sums are convolutions.
type kernel struct {
	columns, rows int // of cells
	west, south   int
	width, height int       // of bins, powers of two
	factors       []float64 // of transforms, turned
}

// newKernel returns the law for cells of a side in metres, with so many bins around the cells as noise reaches.
func newKernel(a planar.Accuracy, side, step float64, columns, rows, around int) kernel {
	width, height := powerOfTwo(columns+2*around), powerOfTwo(rows+2*around)
	k := kernel{columns, rows, (width - columns) / 2, (height - rows) / 2, width, height, make([]float64, width*height)}
	near := differences(a, side, step, around)
	t, total := newTransform(width, height), 0.0
	for y := range height {
		for x := range width {
			if dx, dy := min(x, width-x), min(y, height-y); dx <= around && dy <= around {
				t.re[y*width+x] = near[dy*(around+1)+dx]
				total += near[dy*(around+1)+dx]
			}
		}
	}
	t.forward()
	for i, re := range t.turned[0] { // the kernel is symmetric: the other part is 0 but for rounding
		k.factors[i] = re / (total * float64(width*height))
	}
	return k
}

// convolve sums over all differences.
func (k *kernel) convolve(t *transform) {
	t.forward()
	for i, f := range k.factors {
		t.turned[0][i] *= f
		t.turned[1][i] *= f
	}
	t.back()
}

func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// differences returns the weights of bins that are up to around columns and rows away from a cell, row by row.
func differences(a planar.Accuracy, side, step float64, around int) []float64 {
	reach, width := a.Reach(1 - unexplained/2)
	step = max(step, fine*width)
	n := int(math.Ceil(reach/step)) + 1
	axis := make([][]share, n)
	for i := range axis {
		axis[i] = shares(float64(i)*step, side, step, around)
	}
	weights := make([]float64, (around+1)*(around+1))
	row := make([]float64, around+1)
	for i := range axis {
		clear(row)
		for j := range axis {
			w := elementary.Exp(-a.Exponent(float64(i)*step, float64(j)*step))
			for _, s := range axis[j] {
				row[s.away] += float64(w * s.weight)
			}
		}
		for _, s := range axis[i] {
			for d, w := range row {
				weights[s.away*(around+1)+d] += float64(w * s.weight)
			}
		}
	}
	return weights
}

// A share is the part of noise that leads so many columns away.
type share struct {
	away   int
	weight float64
}

// shares returns where noise of offset metres along an axis leads, in either direction: for d = 0 and both directions of offset 0 once.
//
// x is even on [0, side), and rounding is even on half a step either way. The probability that their sum and the offset lie
// in [d*side, (d+1)*side) is the second difference, over the side, and the first, over the step, of v^2/2 for v > 0.
func shares(offset, side, step float64, around int) (list []share) {
	half := float64(step / 2)
	square := func(v float64) float64 { return float64(max(0, v) * max(0, v)) }
	tent := func(u float64) float64 { return square(u+side) - float64(2*square(u)) + square(u-side) }
	toward := func(u float64) float64 { return (tent(u+half) - tent(u-half)) / float64(2*side*step) }
	low, high := int(math.Floor((offset-half)/side))-1, int(math.Ceil((offset+half)/side))+1
	for d := max(0, low); d <= min(high, around); d++ {
		at := float64(float64(d) * side)
		w := toward(offset - at)
		if offset > 0 {
			w += toward(-offset - at)
		}
		if w > 0 {
			list = append(list, share{d, w})
		}
	}
	return list
}
