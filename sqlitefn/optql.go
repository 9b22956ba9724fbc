package sqlitefn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// optimalMechanism is an optimal mechanism on places of a domain, as optql_build
// makes it. All of it is public.
type optimalMechanism struct {
	optimal.Places
	metric    placeMetric
	weights   []float64 // of the prior
	epsilon   float64   // per metre, as it was asked for
	dilation  float64   // as it was asked for
	solved    solved
	mechanism *optimal.Mechanism

	// What releases need, set by ready.
	cost   budget.Amount
	metres bool         // the distances are lower bounds of geodesics
	points [][2]float64 // lat, lon of the places as they are released
	middle int          // the place nearest to the domain's centre

	guesses []int // see remap; nil before its first use
}

// solved is what the solver says of its solution. Nothing rests on it.
type solved struct {
	Edges    uint32 // of the spanner
	Dilation float64
	Gap      float64
	Seconds  float64
}

// optimalVersion is the first byte of the binary form.
const optimalVersion = 1

// optimalHead is the beginning of the binary form, all numbers big-endian. It is
// followed by the domain's name, the cells, the weights, and the mechanism in its own
// form.
type optimalHead struct {
	Version    uint8
	Metric     placeMetric
	NameLength uint16
	Places     uint16
	// Where the domain's lattice has its origin, degrees, and its step, metres, so
	// that another domain of its name is noticed.
	OriginLat, OriginLon, Step float64
	Epsilon, Dilation          float64
	Solved                     solved
}

func (o *optimalMechanism) appendBinary(b []byte) ([]byte, error) {
	name := o.Domain.Name()
	if len(name) > math.MaxUint16 {
		return nil, errors.New("domain has too long a name")
	}
	lat, lon := o.Domain.Location(planar.Cell{})
	head := optimalHead{
		Version: optimalVersion, Metric: o.metric, NameLength: uint16(len(name)), Places: uint16(len(o.Cells)),
		OriginLat: lat, OriginLon: lon, Step: o.Domain.Step(), Epsilon: o.epsilon, Dilation: o.dilation, Solved: o.solved,
	}
	for _, part := range []any{head, []byte(name), o.Cells, o.weights} {
		var err error
		if b, err = binary.Append(b, binary.BigEndian, part); err != nil {
			return nil, err
		}
	}
	return o.mechanism.AppendBinary(b)
}

var errOptimalForm = errors.New("not what optql_build answers")

// parseOptimal reads the binary form. domains returns the domain of a name. Whatever
// the data, what it returns is certified anew, and what it may be charged in follows
// from its distances alone: see unit.
func parseOptimal(data []byte, domains func(name string) (*planar.Domain, error)) (*optimalMechanism, error) {
	var head optimalHead
	n, err := binary.Decode(data, binary.BigEndian, &head)
	if err != nil || head.Version != optimalVersion {
		return nil, errOptimalForm
	}
	data = data[n:]
	if len(data) < int(head.NameLength) {
		return nil, errOptimalForm
	}
	domain, err := domains(string(data[:head.NameLength]))
	if err != nil {
		return nil, err
	}
	data = data[head.NameLength:]
	o := &optimalMechanism{
		Places:  optimal.Places{Domain: domain, Cells: make([]planar.Cell, head.Places)},
		metric:  head.Metric,
		weights: make([]float64, head.Places),
		epsilon: head.Epsilon, dilation: head.Dilation, solved: head.Solved,
	}
	for _, part := range []any{o.Cells, o.weights} {
		n, err := binary.Decode(data, binary.BigEndian, part)
		if err != nil {
			return nil, errOptimalForm
		}
		data = data[n:]
	}
	if o.mechanism, err = optimal.Parse(data); err != nil {
		return nil, err
	}
	if err := o.check(head); err != nil {
		return nil, err
	}
	return o, o.ready()
}

// check says what is wrong with a mechanism that was read, which is certified for
// its own epsilon and distances: that these are not the ones it is charged for, or
// that it was made for another domain.
func (o *optimalMechanism) check(head optimalHead) error {
	if o.metric > given || !o.solved.sound() || !(o.dilation >= 1 && o.dilation <= math.MaxFloat64) || !isPrior(o.weights) {
		return errOptimalForm
	}
	if !(o.epsilon > 0 && o.epsilon <= math.MaxFloat64) {
		return errOptimalForm
	}
	rate, err := exact.RateFloor(budget.Decimal(o.epsilon))
	if err != nil || o.mechanism.Epsilon() != rate || o.mechanism.Len() != len(o.Cells) {
		return errOptimalForm
	}
	if !o.isOf(head) || !o.Ascending() || !o.fits(o.mechanism.Privacy()) {
		return fmt.Errorf("its distances are not those of places in this domain '%s'", o.Domain.Name())
	}
	return inRegion(o.Places)
}

// isOf reports whether the domain's lattice is the one that the head is of.
func (o *optimalMechanism) isOf(head optimalHead) bool {
	const rounding = 2e-7 // degrees
	lat, lon := o.Domain.Location(planar.Cell{})
	return math.Abs(lat-head.OriginLat) <= rounding && math.Abs(lon-head.OriginLon) <= rounding && o.Domain.Step() == head.Step
}

// fits reports whether distances can be those of the metric between the places.
func (o *optimalMechanism) fits(distances optimal.Matrix) bool {
	switch o.metric {
	case euclid:
		return o.Supports(distances)
	case manhattan:
		return equal(distances, o.Manhattan())
	}
	return !slices.ContainsFunc(distances, func(row []float64) bool { return slices.Max(row) > maxDistance })
}

func equal(a, b optimal.Matrix) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

// sound reports whether the numbers can be shown.
func (s solved) sound() bool {
	for _, x := range []float64{s.Dilation, s.Gap, s.Seconds} {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// isPrior reports whether weights make a prior.
func isPrior(weights []float64) bool {
	sum := 0.0
	for _, w := range weights {
		if !(w > 0) {
			return false
		}
		sum += w
	}
	return !math.IsInf(sum, 0)
}

// ready computes what releases need.
func (o *optimalMechanism) ready() (err error) {
	if o.cost, err = budget.Cost(budget.Decimal(o.epsilon)); err != nil {
		return err
	}
	o.metres = o.BelowGeodesics(o.mechanism.Privacy())
	for _, cell := range o.Cells {
		lat, lon := o.Domain.Location(cell)
		o.points = append(o.points, [2]float64{lat, lon})
	}
	lat, lon := o.Domain.Centre()
	o.middle = o.snap(lat, lon)
	return nil
}

// unit is what a mechanism of that name is charged in.
//
// # Privacy
//
// What is certified is that two places d apart are told apart by at most epsilon*d, per
// metre of the mechanism's own distances. Where none of these is longer than the
// geodesic, that is no more than epsilon per metre, and it counts towards the budget of
// all that is charged per metre. Otherwise places may be near each other and far apart
// by those distances: the bound is one of another metric, which says nothing in metres,
// and has a budget of its own. A mechanism never changes, so that the unit has one
// meaning. (Where its declaration was rolled back and the name used again, what was
// spent bounds the longer of both distances.)
//
// The unit follows from what was certified and from the domain, not from anything
// that is stored beside.
func (o *optimalMechanism) unit(name string) budget.Unit {
	if o.metres {
		return budget.Metre
	}
	return budget.Metre + ":" + budget.Unit(name)
}

// losses are what is lost when one place is reported for another, metres: of the frame,
// or of the mechanism's own distances.
func (o *optimalMechanism) losses() optimal.Matrix {
	if o.metric == euclid {
		return o.Quality()
	}
	return o.mechanism.Privacy()
}

// snap is the place that stands for a location: the nearest in the frame, whatever the
// metric, since distances between places say nothing of other locations.
func (o *optimalMechanism) snap(lat, lon float64) int { return o.Nearest(o.Domain.Cell(lat, lon)) }

// remap is the place that a listener who knows the prior takes an output for.
func (o *optimalMechanism) remap(output int) int {
	if o.guesses == nil {
		o.guesses = optimal.Remap(o.weights, o.mechanism.Matrix(), o.losses())
	}
	return o.guesses[output]
}

// asksTheSame reports whether two mechanisms were built from the same arguments.
// Their matrices may differ in what a solver leaves to chance, such as how a
// processor rounds.
func (o *optimalMechanism) asksTheSame(p *optimalMechanism) bool {
	return o.Domain == p.Domain && o.epsilon == p.epsilon && o.dilation == p.dilation && o.metric == p.metric &&
		slices.Equal(o.Cells, p.Cells) && slices.Equal(o.weights, p.weights) &&
		(o.metric != given || equal(o.mechanism.Privacy(), p.mechanism.Privacy()))
}

// optqlStore keeps a mechanism under a name.
func optqlStore(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	if c.null(1) {
		return c.bad(1, "is NULL: there were no places to build it on")
	}
	v := c.Arg(1)
	if v.Type() != sqlite.Blob {
		return c.bad(1, "must be BLOB, as optql_build answers, got %s", v.Type())
	}
	data := v.Bytes()
	o, err := parseOptimal(data, s.domainOf)
	if err != nil {
		return c.bad(1, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() (*optimalMechanism, bool, error) {
		stored, err := s.optimal(name)
		return stored, stored != nil, err
	}, `INSERT OR IGNORE INTO main.geosql_optimal(name, mechanism) VALUES(?,?)`, name, data)
	if err != nil {
		return err
	}
	if earlier == nil || !o.asksTheSame(earlier) {
		return fmt.Errorf("mechanism '%s' is stored already and cannot change; take another name", name)
	}
	o = earlier
	c.ResultString(0, fmt.Sprintf("mechanism '%s': %d places in domain '%s', %s/%s a release, %.0f m lost on average; its places, weights and matrix are public",
		name, len(o.Cells), o.Domain.Name(), o.cost, o.unit(name), optimal.Loss(o.weights, o.mechanism.Matrix(), o.losses())))
	return nil
}

// optimal is the mechanism of that name, nil where none is stored. What was parsed is
// remembered by its content, and by that of its domain.
func (s *session) optimal(name string) (*optimalMechanism, error) {
	var data []byte
	err := s.read(`SELECT mechanism FROM main.geosql_optimal WHERE name = ?`, func(st *sqlite.Stmt) {
		data = columnBlob(st, 0)
	}, name)
	if err != nil || data == nil {
		return nil, err
	}
	if o := s.optimals[string(data)]; o != nil {
		domain, err := s.domainOf(o.Domain.Name())
		if err != nil {
			return nil, err
		}
		if domain == o.Domain {
			return o, nil
		}
	}
	o, err := parseOptimal(data, s.domainOf)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", quoted([]byte(name)), err)
	}
	remember(s.optimals, string(data), o)
	return o, nil
}

// optimalNamed is the mechanism that argument i names.
func (s *session) optimalNamed(c call, i int) (*optimalMechanism, error) {
	name, err := c.name(i)
	if err != nil {
		return nil, err
	}
	o, err := s.optimal(name)
	if err == nil && o == nil {
		err = c.undeclared(s, i, "optimal")
	}
	return o, err
}

// optimalReport is the JSON object that optql_report answers.
type optimalReport struct {
	Name             string      `json:"name"`
	Domain           string      `json:"domain"`
	Places           int         `json:"places"`
	Metric           string      `json:"metric"`
	Unit             budget.Unit `json:"unit"`
	Epsilon          float64     `json:"epsilon"`
	CertifiedEpsilon float64     `json:"certified_epsilon"`
	Dilation         float64     `json:"dilation"`
	TrueDilation     float64     `json:"true_dilation"`
	Constraints      int64       `json:"constraints"`
	Gap              float64     `json:"gap"`
	QualityLoss      float64     `json:"quality_loss"`
	AdvError         float64     `json:"adv_error"`
	LargestSnap      float64     `json:"largest_snap"`
	Seconds          float64     `json:"seconds"`
}

func optqlReport(s *session, c call) error {
	o, err := s.optimalNamed(c, 0)
	if err != nil {
		return err
	}
	name, losses, matrix := c.Arg(0).Text(), o.losses(), o.mechanism.Matrix()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(optimalReport{
		Name: name, Domain: o.Domain.Name(), Places: len(o.Cells), Metric: o.metric.String(), Unit: o.unit(name),
		Epsilon: o.epsilon, CertifiedEpsilon: o.mechanism.Epsilon(), Dilation: o.dilation, TrueDilation: o.solved.Dilation,
		// Two on each edge of the spanner, for each output.
		Constraints: 2 * int64(o.solved.Edges) * int64(len(o.Cells)),
		Gap:         o.solved.Gap, QualityLoss: optimal.Loss(o.weights, matrix, losses), AdvError: optimal.AdversaryError(o.weights, matrix, losses),
		LargestSnap: o.Farthest(), Seconds: o.solved.Seconds,
	}); err != nil {
		return err
	}
	c.ResultString(0, strings.TrimSuffix(text.String(), "\n"))
	return nil
}
