package planar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/nearest"
)

// minStep is the smallest lattice step, in metres; printed coordinates resolve a
// centimetre.
const minStep = 0.001

// A Domain is a public planar frame: a box of latitudes and longitudes, a
// projection fixed by that box alone, a square lattice, and possibly a region
// into which outputs are moved. It is immutable and safe for concurrent use.
type Domain struct {
	name          string
	box           nearest.Box
	frame         frame
	grid          frame // the frame in steps instead of metres
	step          float64
	reach         float64 // metres in the frame from the centre to the farthest corner
	width, height float64 // metres in the frame, through the centre
	kappa         float64
	quantumRate   float64 // per step, of the smallest amount per metre
	region        *region // nil if every lattice point is admissible
}

// NewDomain returns a domain over a box, in degrees, with a lattice step of at least
// 0.001 metres. Longitudes lie in [-180, 180]; west > east means that the box crosses
// the antimeridian. A box may reach a pole and be up to 180 degrees wide. It is refused
// if its projection would stretch distances by more than a tenth, which happens at some
// 7,500 km across. Errors name the argument: south, west, north, east or step_m.
func NewDomain(name string, south, west, north, east, step float64) (*Domain, error) {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, errors.New("name must be printable and not empty")
	}
	b, err := newBox(south, west, north, east)
	if err != nil {
		return nil, err
	}
	if !(step >= minStep) || math.IsInf(step, 0) {
		return nil, fmt.Errorf("step_m must be at least %v, not %v", minStep, step)
	}
	d := &Domain{name: name, box: b, step: step}
	d.frame = centredFrame(b.Centre())
	d.reach, d.kappa = d.frame.fitTo(b.Corners())
	d.grid = d.frame
	d.grid.diameter /= step
	// Two computed images are at most 2*projectionError further apart than the
	// exact ones. Adding this much per step to kappa keeps the lattice distance
	// of two locations below (1+kappa)*(geodesic distance + step*sqrt 2).
	d.kappa += 2 * projectionError / step
	if d.kappa > maxKappa {
		return nil, errors.New("the box is too large for a planar frame: " +
			"distances would be stretched by more than 10 %")
	}
	if err := d.setSize(); err != nil {
		return nil, err
	}
	d.quantumRate, err = d.rate(budget.Amount(1).Rat())
	return d, err
}

// setSize sets the domain's width and height, and checks the step against them.
func (d *Domain) setSize() error {
	lat0, _ := d.box.Centre()
	d.width, _ = d.frame.project(lat0, d.box.Half)
	d.width *= 2
	_, north := d.frame.project(d.box.North, 0)
	_, south := d.frame.project(d.box.South, 0)
	d.height = north - south
	if d.step > d.Side() {
		return fmt.Errorf("step_m %v exceeds the box, which is %s x %s",
			d.step, kilometres(d.width), kilometres(d.height))
	}
	if d.reach > maxCell*d.step {
		return fmt.Errorf("step_m %v is too small: the box would be more than 2^31 cells across", d.step)
	}
	return nil
}

// Name returns the name the domain was declared with.
func (d *Domain) Name() string { return d.name }

// Step returns the lattice step in metres.
func (d *Domain) Step() float64 { return d.step }

// Kappa returns the most by which the frame stretches a WGS 84 geodesic between two
// points of the box, relative to its length, rounding errors included.
func (d *Domain) Kappa() float64 { return d.kappa }

// Side returns the larger side of the box in metres of the frame.
func (d *Domain) Side() float64 { return max(d.width, d.height) }

// Outside reports whether a location in degrees lies outside the closed box, so
// that a draw would first move it there.
func (d *Domain) Outside(lat, lon float64) bool { return !d.box.Contains(lat, lon) }

// String describes the domain in one line: its size from west to east and from south
// to north through the centre, the step, and to two digits kappa and the largest
// sensible epsilon, 0.1/step. At that epsilon the cell's diagonal adds 0.14 to the bound
// on the logarithm of a likelihood ratio, and the mechanism reports the location's own
// cell with probability 0.0016. Above it, the cell and no longer the noise decides how much
// is hidden.
func (d *Domain) String() string {
	return fmt.Sprintf("%s: %s x %s, step %s m, kappa %s, largest sensible epsilon %s/m",
		d.name, kilometres(d.width), kilometres(d.height),
		decimal.Format(d.step), decimal.Format(decimal.Round(d.kappa, 2)), decimal.Format(decimal.Round(0.1/d.step, 2)))
}

// kilometres formats a length in metres.
func kilometres(metres float64) string {
	decimals := 1
	if metres < 10_000 {
		decimals = 3
	}
	return strconv.FormatFloat(metres/1000, 'f', decimals, 64) + " km"
}

// Centre returns the admissible point nearest to the middle of the box, as Draw would
// report it. It is public.
func (d *Domain) Centre() (lat, lon float64) {
	return d.Location(d.Admissible(d.Cell(d.box.Centre())))
}
