package trace

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/varint"
)

// stateVersion is the first byte of a run's binary form.
const stateVersion = 1

// AppendBinary appends a run in binary form, at most 250 bytes and mostly below 100. It
// never fails. The form, all numbers varints of encoding/binary, those marked ± zigzag:
//
//	1 points spent                   all there is without points
//	tested easy
//	±t ±i ±j                         the last point
//	age ±di ±dj                      the last point paid for, relative to it
//	n (age ±di ±dj)*                 the n recent points: the latest is the one
//	                                 above, each other one is relative to the
//	                                 one before it in this list
//	±handicap
func (r *Run) AppendBinary(b []byte) ([]byte, error) {
	h := r.history
	b = append(b, stateVersion)
	b = binary.AppendUvarint(b, uint64(h.Points))
	b = binary.AppendUvarint(b, uint64(h.Spent))
	if h.Points == 0 {
		return b, nil
	}
	b = binary.AppendUvarint(b, uint64(h.Tested))
	b = binary.AppendUvarint(b, uint64(h.Easy))
	b = binary.AppendVarint(b, r.last.t)
	b = binary.AppendVarint(b, r.last.z.I)
	b = binary.AppendVarint(b, r.last.z.J)
	b = appendOlder(b, r.last, r.paid)
	b = binary.AppendUvarint(b, uint64(r.recent.n))
	for k := r.recent.n - 1; k > 0; k-- {
		b = appendOlder(b, r.recent.points[k], r.recent.points[k-1])
	}
	return binary.AppendVarint(b, int64(r.rivals.handicap)), nil
}

// appendOlder appends a fix relative to a later one.
func appendOlder(b []byte, later, f fix) []byte {
	b = binary.AppendUvarint(b, uint64(later.t)-uint64(f.t))
	b = binary.AppendVarint(b, f.z.I-later.z.I)
	return binary.AppendVarint(b, f.z.J-later.z.J)
}

var errState = errors.New("not the binary form of a run")

// UnmarshalBinary sets r to the run with the binary form data. It accepts only the output of
// AppendBinary for a run that can exist: on an error r is
// unchanged.
func (r *Run) UnmarshalBinary(data []byte) error {
	d := decoder{varint.New(data)}
	run := d.run()
	if d.Failed() || !run.plausible() {
		return errState
	}
	// A run has one form: no number is longer than necessary, and nothing follows.
	if again, _ := run.AppendBinary(nil); !bytes.Equal(again, data) {
		return errState
	}
	*r = run
	return nil
}

// plausible makes the checks left by the decoder: whether the counts are consistent
// and the budget can have been spent on them.
func (r *Run) plausible() bool {
	h := r.history
	if h.Points == 0 { // then the decoder has read nothing else
		return 0 <= h.Spent && h.Spent <= budget.Max
	}
	return 0 < h.Points && 0 <= h.Easy && h.Easy <= h.Tested && h.Tested < h.Points &&
		0 < h.Spent && h.Spent <= budget.Max &&
		(r.paid.t < r.last.t || r.paid == r.last) &&
		-maxHandicap <= r.rivals.handicap && r.rivals.handicap <= maxHandicap
}

// A decoder reads a run from its binary form.
type decoder struct{ *varint.Reader }

func (d decoder) run() (r Run) {
	d.Require(d.Byte() == stateVersion)
	r.history.Points = int64(d.Uvarint())
	r.history.Spent = budget.Amount(d.Uvarint())
	if r.history.Points == 0 {
		return r
	}
	r.history.Tested = int64(d.Uvarint())
	r.history.Easy = int64(d.Uvarint())
	r.last = fix{d.Varint(), d.cell(Cell{})}
	r.paid = d.older(r.last)
	r.recent = d.recent(r.paid)
	handicap := d.Varint()
	r.rivals.handicap = int8(handicap)
	d.Require(int64(r.rivals.handicap) == handicap)
	return r
}

// recent reads the recent points. The latest is known.
func (d decoder) recent(latest fix) (r recent) {
	r.n = int(d.Below(recentSize + 1))
	for k := r.n - 1; k >= 0; k-- {
		r.points[k] = latest
		if k > 0 {
			older := d.older(latest)
			d.Require(older.t != latest.t)
			latest = older
		}
	}
	return r
}

// older reads a fix relative to a later one.
func (d decoder) older(later fix) fix {
	age := d.Uvarint()
	d.Require(age <= uint64(later.t)-1<<63) // not before the least int64
	return fix{int64(uint64(later.t) - age), d.cell(later.z)}
}

// cell reads a cell relative to another.
func (d decoder) cell(base Cell) Cell {
	c := Cell{base.I + d.Varint(), base.J + d.Varint()}
	if !c.bounded() { // nor is a sum that overflowed
		d.Require(false)
		return Cell{}
	}
	return c
}
