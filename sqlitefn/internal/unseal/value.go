// Package unseal has the common part of functions over sealed values: it opens values, counts them for their accounts, and
// evaluates functions for statements that run elsewhere. It imports the frame, and families import it for the forms of
// their functions over sealed values. Start with [Open] and [Group]; servers use an [Evaluator].
package unseal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// A sealed value stands in place of an account, a secret, and its universe or domain. Behind it
// may stand the range that dx_narrow has narrowed its universe to: lo and hi, 8 bytes each.
const narrowedSize = sealed.ValueSize + 16

// ArgSealed is a sealed value, or NULL.
var ArgSealed = &frame.Arg{Name: "sealed", Is: "a value of a sealed column: account and secret in one", Kind: frame.OrNull(kindSealed)}

var kindSealed = frame.Kind{Sealed: true, Expects: "a sealed value (with plain ones the function has more arguments)", Decode: Decode}

// Decode decodes a sealed value, narrowed or not.
func Decode(in *sqlite.Value, out *frame.Value) error {
	if in.Type() != sqlite.Blob {
		return frame.ErrType
	}
	out.Text = in.Bytes()
	if n := len(out.Text); n != sealed.ValueSize && n != narrowedSize {
		return sealed.ErrValue
	}
	return nil
}

var Functions = []*frame.Function{
	{
		Name: "dx_narrow", Section: frame.OverSealed, Returns: "BLOB", Flags: frame.Pure,
		Args:     []*frame.Arg{ArgSealed, argNarrowLo, argNarrowHi},
		Does:     "Narrows the universe of a sealed reading for the function that it is passed to.",
		Notes:    "lo and hi must be values of the reading's universe, which keeps its step. Readings outside are moved to the nearer end, and not left out. Noise that grows with the universe becomes less. NULL gives NULL.",
		Examples: []string{"SELECT dx_narrow(NULL, 0, 2)"},
		Scalar:   dxNarrow,
	},
}

var (
	argNarrowLo = &frame.Arg{Name: "lo", Is: "smallest value that readings are moved to", Kind: frame.Number}
	argNarrowHi = &frame.Arg{Name: "hi", Is: "largest value that readings are moved to", Kind: frame.Number}
)

func dxNarrow(c frame.Call) error {
	lo, hi := c.Number(argNarrowLo), c.Number(argNarrowHi)
	switch {
	case lo >= hi:
		return c.Errorf(argNarrowLo, "must be below hi, got %s and %s", frame.FormatNumber(lo), frame.FormatNumber(hi))
	case !c.Given(ArgSealed):
		return nil
	}
	var b [narrowedSize]byte
	n := copy(b[:], c.Bytes(ArgSealed))
	if n == narrowedSize {
		return c.Errorf(ArgSealed, "is narrowed already")
	}
	binary.BigEndian.PutUint64(b[n:], math.Float64bits(lo))
	binary.BigEndian.PutUint64(b[n+8:], math.Float64bits(hi))
	c.ResultBlob(0, b[:])
	return nil
}

// A Range is the range of a sealed value: its column, and the part of it that the value was narrowed to.
type Range struct {
	Column   *catalog.Column
	narrowed bool
	lo, hi   float64
}

// Opened is a sealed value that was opened.
type Opened struct {
	catalog.Row
	Of     Range
	keeper *catalog.Keeper // that has opened it
}

// name returns the name of the account that pays.
func (o Opened) name() string { return o.keeper.Name(o.Account) }

// Open opens the sealed value of an argument. It reports false for NULL, and for a revoked
// or erased value, which counts as NULL. No error depends on the hidden value.
func Open(c frame.Call, a *frame.Arg) (o Opened, present bool, err error) {
	if !c.Given(a) {
		return Opened{}, false, nil
	}
	k, err := statements.Of(c.Statement()).keeper(c.Session)
	if err != nil {
		return Opened{}, false, err
	}
	b := c.Bytes(a)
	row, present, err := k.Open(b[:sealed.ValueSize])
	if err != nil {
		return Opened{}, false, c.Errorf(a, "%w", err)
	}
	if e := evaluationOf(c.Session); e != nil && present {
		if err := e.mayAsk(row.Column); err != nil {
			return Opened{}, false, err
		}
	}
	o = Opened{row, Range{Column: row.Column}, k}
	if len(b) == narrowedSize {
		o.Of.narrowed = true
		o.Of.lo = math.Float64frombits(binary.BigEndian.Uint64(b[sealed.ValueSize:]))
		o.Of.hi = math.Float64frombits(binary.BigEndian.Uint64(b[sealed.ValueSize+8:]))
	}
	return o, present, nil
}

// A Universe is the universe of sealed readings, in the range that they were narrowed to.
type Universe struct {
	*scalar.Universe
	first int64 // index of its smallest value in the universe of the column
}

// Index returns the index of a sealed reading, moved into the range. (A collector may have
// sealed anything.)
func (u *Universe) Index(d sealed.Data) int64 {
	k := d.Reading()
	if k < u.first {
		return 0
	}
	return min(k-u.first, u.Last())
}

var sealedUniverses = frame.NewMemo[Range, *Universe]()

var errNotReading = errors.New("is a location, where a reading belongs")

// UniverseOf returns the universe of a range.
func UniverseOf(s *frame.Session, of Range) (*Universe, error) {
	return sealedUniverses.Get(s, of, func() (*Universe, error) {
		d := of.Column.Universe
		if d == nil {
			return nil, errNotReading
		}
		whole := declared.UniverseRow{Name: d.Name, Lo: d.Lo, Hi: d.Hi, Step: d.Step, Unit: d.Unit}
		u, err := declared.BuildUniverse(s, whole)
		if err != nil || !of.narrowed {
			return &Universe{u, 0}, err
		}
		for _, end := range []float64{of.lo, of.hi} {
			if u.Outside(end) || u.Value(u.Index(end)) != end {
				return nil, fmt.Errorf("is narrowed to %s..%s, and %s is not a value of %s",
					frame.FormatNumber(of.lo), frame.FormatNumber(of.hi), frame.FormatNumber(end), u)
			}
		}
		part := whole
		part.Lo, part.Hi = of.lo, of.hi
		narrow, err := declared.BuildUniverse(s, part)
		return &Universe{narrow, u.Index(of.lo)}, err
	})
}

var errNotLocation = errors.New("is a reading, where a location belongs")

// DomainOf returns the domain of a range.
func DomainOf(s *frame.Session, of Range) (*planar.Domain, error) {
	d := of.Column.Domain
	switch {
	case d == nil:
		return nil, errNotLocation
	case of.narrowed:
		return nil, errors.New("is a location, which cannot be narrowed")
	}
	return declared.BuildDomain(s, declared.DomainRow{Name: d.Name, South: d.South, West: d.West, North: d.North, East: d.East, StepM: d.StepM, Region: d.Region})
}

// Degrees returns the coordinates of a sealed location.
func Degrees(d sealed.Data) (lat, lon float64) {
	y, x := d.Location()
	return float64(y) / 1e7, float64(x) / 1e7
}
