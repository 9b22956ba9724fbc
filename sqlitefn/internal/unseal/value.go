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
// may stand the span that dx_narrow has narrowed its universe to, and then the span of totals that dx_person asks for, with a
// letter before it: so the length of a value tells which of them it has.
const (
	spanSize     = 16 // lo and hi, 8 bytes each
	narrowedSize = sealed.ValueSize + spanSize
	personSize   = 1 + spanSize
	personLetter = 'p'
)

// A span is given by its ends, or not at all.
type span struct {
	given  bool
	lo, hi float64
}

// appendTo appends a span that is given.
func (s span) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.lo))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(s.hi))
}

// parseSpan reads a span.
func parseSpan(b []byte) span {
	return span{true, math.Float64frombits(binary.BigEndian.Uint64(b)), math.Float64frombits(binary.BigEndian.Uint64(b[8:]))}
}

// splitSpans returns a sealed value without the spans behind it, and these. It reports false for anything that has another
// length or letter.
func splitSpans(b []byte) (value []byte, narrowed, person span, ok bool) {
	if len(b) < sealed.ValueSize {
		return nil, span{}, span{}, false
	}
	value, rest := b[:sealed.ValueSize], b[sealed.ValueSize:]
	if len(rest) == spanSize || len(rest) == spanSize+personSize {
		narrowed, rest = parseSpan(rest), rest[spanSize:]
	}
	if len(rest) == personSize && rest[0] == personLetter {
		person, rest = parseSpan(rest[1:]), nil
	}
	return value, narrowed, person, len(rest) == 0
}

// IsSealed reports whether a blob has the form of a sealed value, with the spans that may stand behind one.
func IsSealed(b []byte) bool {
	_, _, _, ok := splitSpans(b)
	return ok
}

// ArgSealed is a sealed value, or NULL.
var ArgSealed = &frame.Arg{Name: "sealed", Is: "a value of a sealed column: account and secret in one", Kind: frame.OrNull(kindSealed)}

var kindSealed = frame.Kind{Sealed: true, Expects: "a sealed value (a call on plain columns has more arguments)", Decode: Decode}

// Decode decodes a sealed value, narrowed or not.
func Decode(in *sqlite.Value, out *frame.Value) error {
	if in.Type() != sqlite.Blob {
		return frame.ErrType
	}
	if out.Text = in.Bytes(); !IsSealed(out.Text) {
		return sealed.ErrValue
	}
	return nil
}

// PersonName is the function that asks for one number of each account.
const PersonName = "dx_person"

var Functions = []*frame.Function{
	{
		Name: "dx_narrow", Section: frame.OverSealed, Returns: "BLOB", Flags: frame.Pure,
		Args:     []*frame.Arg{ArgSealed, argNarrowLo, argNarrowHi},
		Does:     "Narrows the universe of a sealed reading for the function that it is passed to.",
		Accuracy: "that of the function, for the narrower universe",
		Notes:    "lo and hi must be values of the reading's universe, which keeps its step. Readings outside are moved to the nearer end, and not left out. NULL gives NULL.",
		Examples: []string{"SELECT dx_avg(dx_narrow(kwh, 0, 2), 0.5, 'dh') FROM reading"},
		Scalar:   dxNarrow,
	}, {
		Name: PersonName, Section: frame.OverSealed, Returns: "BLOB", Flags: frame.Pure,
		Args:     []*frame.Arg{ArgSealed, argPersonLo, argPersonHi},
		Does:     "Makes one record of all readings that an account has in the group, for the aggregate that it is passed to: their sum, moved into lo..hi.",
		Accuracy: "that of the aggregate, as hi - lo is that of a universe: dx_within(answer) after, and a server tells it before; dx_radius knows declared universes only",
		Notes: "The aggregate is then about one number for each account of the ledger, with all its pseudonyms together, and under dh: the metric is 'dh' or left out. " +
			"It charges epsilon in unit record to each account, once per group, however many readings the account has there. " +
			"lo and hi bound a sum and may lie outside the universe; both are multiples of gcd(lo of the universe, step). A sum outside is moved to the nearer end. " +
			"dx_person(dx_narrow(..), ..) adds narrowed readings. dx_sum, dx_avg, dx_variance, dx_stddev, dx_min, dx_max, dx_median, dx_percentile, dx_percentiles and dx_histogram take it. NULL gives NULL.",
		Examples: []string{"SELECT dx_avg(dx_person(kwh, 0, 50), 1) FROM reading"},
		Scalar:   dxPerson,
	},
}

var (
	argNarrowLo = &frame.Arg{Name: "lo", Is: "smallest value that readings are moved to", Kind: frame.Number}
	argNarrowHi = &frame.Arg{Name: "hi", Is: "largest value that readings are moved to", Kind: frame.Number}
	argPersonLo = &frame.Arg{Name: "lo", Is: "smallest sum of an account that counts as it is", Kind: frame.Number}
	argPersonHi = &frame.Arg{Name: "hi", Is: "largest sum of an account that counts as it is", Kind: frame.Number}
)

func dxNarrow(c frame.Call) error {
	to, err := spanOf(c, argNarrowLo, argNarrowHi)
	if err != nil || !c.Given(ArgSealed) {
		return err
	}
	b := c.Bytes(ArgSealed)
	if len(b) != sealed.ValueSize {
		_, narrowed, _, _ := splitSpans(b)
		if narrowed.given {
			return c.Errorf(ArgSealed, "is narrowed already")
		}
		return c.Errorf(ArgSealed, "is one number a person already: write dx_person(dx_narrow(..), ..)")
	}
	c.ResultBlob(0, to.appendTo(append(make([]byte, 0, narrowedSize), b...)))
	return nil
}

func dxPerson(c frame.Call) error {
	to, err := spanOf(c, argPersonLo, argPersonHi)
	if err != nil || !c.Given(ArgSealed) {
		return err
	}
	b := c.Bytes(ArgSealed)
	if _, _, person, _ := splitSpans(b); person.given {
		return c.Errorf(ArgSealed, "is one number a person already")
	}
	c.ResultBlob(0, to.appendTo(append(append(make([]byte, 0, len(b)+personSize), b...), personLetter)))
	return nil
}

// spanOf returns the span that two arguments are.
func spanOf(c frame.Call, argLo, argHi *frame.Arg) (span, error) {
	lo, hi := c.Number(argLo), c.Number(argHi)
	if lo >= hi {
		return span{}, c.Errorf(argLo, "must be below hi, got %s and %s", frame.FormatNumber(lo), frame.FormatNumber(hi))
	}
	return span{true, lo, hi}, nil
}

// A Range is the range of a sealed value: its column, the part of it that the value was narrowed to, and the totals that
// its account is to have.
type Range struct {
	Column           *catalog.Column
	narrowed, person span
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
	value, narrowed, person, _ := splitSpans(c.Bytes(a))
	row, present, err := k.Open(value)
	if err != nil {
		return Opened{}, false, c.Errorf(a, "%w", err)
	}
	if e := evaluationOf(c.Session); e != nil && present {
		if err := e.mayAsk(row.Column); err != nil {
			return Opened{}, false, err
		}
	}
	return Opened{row, Range{row.Column, narrowed, person}, k}, present, nil
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

var (
	errNotReading = errors.New("is a location, where a reading belongs")
	errPerson     = errors.New("is one number a person, which this function does not take")
)

var sealedTotals = frame.NewMemo[Range, *scalar.Totals]()

// TotalsOf returns the universe of the readings of a range, and the totals that its accounts are to have, or nil if every
// reading counts by itself.
func TotalsOf(s *frame.Session, of Range) (u *Universe, totals *scalar.Totals, err error) {
	rows := of
	rows.person = span{}
	if u, err = UniverseOf(s, rows); err != nil || !of.person.given {
		return u, nil, err
	}
	totals, err = sealedTotals.Get(s, of, func() (*scalar.Totals, error) {
		t, err := u.Totals(of.person.lo, of.person.hi)
		if err != nil {
			err = fmt.Errorf("is one number a person from %s to %s: %w", frame.FormatNumber(of.person.lo), frame.FormatNumber(of.person.hi), err)
		}
		return t, err
	})
	return u, totals, err
}

// UniverseOf returns the universe of a range in which every reading counts by itself.
func UniverseOf(s *frame.Session, of Range) (*Universe, error) {
	if of.person.given {
		return nil, errPerson
	}
	return sealedUniverses.Get(s, of, func() (*Universe, error) {
		d := of.Column.Universe
		if d == nil {
			return nil, errNotReading
		}
		whole := declared.UniverseRow{Name: d.Name, Lo: d.Lo, Hi: d.Hi, Step: d.Step, Unit: d.Unit}
		u, err := declared.BuildUniverse(s, whole)
		if err != nil || !of.narrowed.given {
			return &Universe{u, 0}, err
		}
		for _, end := range []float64{of.narrowed.lo, of.narrowed.hi} {
			if u.Outside(end) || u.Value(u.Index(end)) != end {
				return nil, fmt.Errorf("is narrowed to %s..%s, and %s is not a value of %s",
					frame.FormatNumber(of.narrowed.lo), frame.FormatNumber(of.narrowed.hi), frame.FormatNumber(end), u)
			}
		}
		part := whole
		part.Lo, part.Hi = of.narrowed.lo, of.narrowed.hi
		narrow, err := declared.BuildUniverse(s, part)
		return &Universe{narrow, u.Index(of.narrowed.lo)}, err
	})
}

// HasColumnIn reports whether the database describes a sealed column as one of readings in a universe.
func HasColumnIn(s *frame.Session, universe string) (has bool, err error) {
	err = s.Read("SELECT 1 FROM main.geosql_sealed_column WHERE kind = 'universe' AND name = ?1 LIMIT 1", func(*sqlite.Stmt) { has = true }, universe)
	return has, err
}

var errNotLocation = errors.New("is a reading, where a location belongs")

// DomainOf returns the domain of a range.
func DomainOf(s *frame.Session, of Range) (*planar.Domain, error) {
	d := of.Column.Domain
	switch {
	case d == nil:
		return nil, errNotLocation
	case of.narrowed.given:
		return nil, errors.New("is a location, which cannot be narrowed")
	case of.person.given:
		return nil, errors.New("is a location, which has no sum")
	}
	return declared.BuildDomain(s, declared.DomainRow{Name: d.Name, South: d.South, West: d.West, North: d.North, East: d.East, StepM: d.StepM, Region: d.Region})
}

// Degrees returns the coordinates of a sealed location.
func Degrees(d sealed.Data) (lat, lon float64) {
	y, x := d.Location()
	return float64(y) / 1e7, float64(x) / 1e7
}
