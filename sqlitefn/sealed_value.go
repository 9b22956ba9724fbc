package sqlitefn

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
)

// A sealed value stands in place of an account, a secret, and its universe or domain. Behind it
// may stand the range that dx_narrow has narrowed its universe to: lo and hi, 8 bytes each.
const narrowedSize = sealed.ValueSize + 16

// argSealed is a sealed value, or NULL.
var argSealed = &argument{name: "sealed", is: "a value of a sealed column: account and secret in one", kind: orNull(kindSealed)}

var kindSealed = kind{sealed: true, expects: "a sealed value (with plain ones the function has more arguments)", decode: decodeSealed}

func decodeSealed(in *sqlite.Value, out *value) error {
	if in.Type() != sqlite.Blob {
		return errType
	}
	out.text = in.Bytes()
	if n := len(out.text); n != sealed.ValueSize && n != narrowedSize {
		return sealed.ErrValue
	}
	return nil
}

var narrowFunctions = []*function{
	&function{
		name: "dx_narrow", section: overSealed, flags: pure,
		args:    []*argument{argSealed, argNarrowLo, argNarrowHi},
		does:    "Narrows the universe of a sealed reading for the function that it is passed to.",
		notes:   "lo and hi must be values of the reading's universe, which keeps its step. Readings outside are moved to the nearer end, and not left out. Noise that grows with the universe becomes less. NULL gives NULL.",
		example: []string{"SELECT dx_narrow(NULL, 0, 2)"},
		scalar:  dxNarrow,
	},
}

var (
	argNarrowLo = &argument{name: "lo", is: "smallest value that readings are moved to", kind: kindNumber}
	argNarrowHi = &argument{name: "hi", is: "largest value that readings are moved to", kind: kindNumber}
)

func dxNarrow(c call) error {
	lo, hi := c.number(argNarrowLo), c.number(argNarrowHi)
	switch {
	case lo >= hi:
		return c.argErrorf(argNarrowLo, "must be below hi, got %s and %s", formatNumber(lo), formatNumber(hi))
	case !c.given(argSealed):
		return nil
	}
	var b [narrowedSize]byte
	n := copy(b[:], c.bytes(argSealed))
	if n == narrowedSize {
		return c.argErrorf(argSealed, "is narrowed already")
	}
	binary.BigEndian.PutUint64(b[n:], math.Float64bits(lo))
	binary.BigEndian.PutUint64(b[n+8:], math.Float64bits(hi))
	c.ResultBlob(0, b[:])
	return nil
}

// A sealedRange says what a sealed value is about: its column, and what that was narrowed to.
type sealedRange struct {
	column   *catalog.Column
	narrowed bool
	lo, hi   float64
}

// opened is a sealed value that was opened.
type opened struct {
	catalog.Row
	of     sealedRange
	keeper *catalog.Keeper // that has opened it
}

// name returns the name of the account that pays.
func (o opened) name() string { return o.keeper.Name(o.Account) }

// open opens the sealed value of an argument. It reports false for NULL, and for what is revoked
// or erased, which counts as NULL. No error depends on what the value hides.
func (c call) open(a *argument) (o opened, present bool, err error) {
	if !c.given(a) {
		return opened{}, false, nil
	}
	k, err := sealedOf.of(c.statement()).keeper(c.session)
	if err != nil {
		return opened{}, false, err
	}
	b := c.bytes(a)
	row, present, err := k.Open(b[:sealed.ValueSize])
	if err != nil {
		return opened{}, false, c.argErrorf(a, "%w", err)
	}
	if e := evaluationOf(c.session); e != nil && present {
		if err := e.mayAsk(row.Column); err != nil {
			return opened{}, false, err
		}
	}
	o = opened{row, sealedRange{column: row.Column}, k}
	if len(b) == narrowedSize {
		o.of.narrowed = true
		o.of.lo = math.Float64frombits(binary.BigEndian.Uint64(b[sealed.ValueSize:]))
		o.of.hi = math.Float64frombits(binary.BigEndian.Uint64(b[sealed.ValueSize+8:]))
	}
	return o, present, nil
}

// A sealedUniverse is the universe of sealed readings, in the range that they were narrowed to.
type sealedUniverse struct {
	*scalar.Universe
	first int64 // index of its smallest value in the universe of the column
}

// index returns the index of a sealed reading, moved into the range. (A collector may have
// sealed anything.)
func (u *sealedUniverse) index(d sealed.Data) int64 {
	k := d.Reading()
	if k < u.first {
		return 0
	}
	return min(k-u.first, u.Last())
}

var sealedUniverses = newMemo[sealedRange, *sealedUniverse]()

var errNotReading = errors.New("is a location, where a reading belongs")

// sealedUniverse returns the universe of a range.
func (s *session) sealedUniverse(of sealedRange) (*sealedUniverse, error) {
	return sealedUniverses.get(s, of, func() (*sealedUniverse, error) {
		d := of.column.Universe
		if d == nil {
			return nil, errNotReading
		}
		whole := declaredUniverse{d.Name, d.Lo, d.Hi, d.Step, d.Unit}
		u, err := universes.get(s, whole, whole.build)
		if err != nil || !of.narrowed {
			return &sealedUniverse{u, 0}, err
		}
		for _, end := range []float64{of.lo, of.hi} {
			if u.Outside(end) || u.Value(u.Index(end)) != end {
				return nil, fmt.Errorf("is narrowed to %s..%s, and %s is not a value of %s",
					formatNumber(of.lo), formatNumber(of.hi), formatNumber(end), u)
			}
		}
		part := whole
		part.lo, part.hi = of.lo, of.hi
		narrow, err := universes.get(s, part, part.build)
		return &sealedUniverse{narrow, u.Index(of.lo)}, err
	})
}

var errNotLocation = errors.New("is a reading, where a location belongs")

// sealedDomain returns the domain of a range.
func (s *session) sealedDomain(of sealedRange) (*planar.Domain, error) {
	d := of.column.Domain
	switch {
	case d == nil:
		return nil, errNotLocation
	case of.narrowed:
		return nil, errors.New("is a location, which cannot be narrowed")
	}
	return s.buildDomain(declaredDomain{d.Name, d.South, d.West, d.North, d.East, d.StepM, d.Region})
}

// degreesOf returns the coordinates of a sealed location.
func degreesOf(d sealed.Data) (lat, lon float64) {
	y, x := d.Location()
	return float64(y) / 1e7, float64(x) / 1e7
}
