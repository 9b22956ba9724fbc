package engine

import (
	"math"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestPointsReadBack(t *testing.T) {
	var block []byte
	points := []ledger.Point{
		{Time: noon, Lat: -89.9999999, Lon: 180, Hard: true, Spent: budget.Max},
		{Time: noon.Add(time.Microsecond), Tested: true},
		{Time: noon, Lat: 1, Lon: 2, Spent: 3, SetSize: 1},
		{Time: time.UnixMicro(-1).UTC(), Hard: true, Tested: true, Spent: 1, SetSize: math.MaxUint32},
		{Gap: true, Spent: 7},
		{Time: noon, Reading: true, Value: -0.25, Hard: true, Spent: 9},
		{Time: noon, Reading: true, Tested: true},
	}
	for i := range points {
		block = appendPoint(block, &points[i])
	}
	rest := block
	for _, want := range points {
		got, after, err := parsePoint(rest)
		if err != nil || got != want {
			t.Errorf("%+v reads back as %+v, %v", want, got, err)
		}
		rest = after
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
}

// Blocks of before there were sets and readings have no more than they had.
func TestPointsWithoutSets(t *testing.T) {
	p := ledger.Point{Time: noon, Lat: 39.9, Lon: 116.3, Hard: true, Spent: 5}
	if b := appendPoint(nil, &p); len(b) != pointSize || b[0] != hardFlag {
		t.Errorf("%d bytes, flags %#x", len(b), b[0])
	}
}

// Every block is read to an end, and the points read would read back the same.
func FuzzPoint(f *testing.F) {
	f.Add(appendPoint(nil, &ledger.Point{Time: noon, Lat: 1, Lon: 2, Hard: true, Spent: 3, SetSize: 4}))
	f.Add(appendPoint(nil, &ledger.Point{Gap: true, Spent: 7}))
	f.Add(appendPoint(nil, &ledger.Point{Time: noon, Reading: true, Value: 0.5, Spent: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, rest, err := parsePoint(data)
		if err != nil {
			return
		}
		again, _, err := parsePoint(appendPoint(nil, &p))
		if err != nil || len(rest) >= len(data) || !p.Gap && again != p && p.Lat == p.Lat && p.Lon == p.Lon && p.Value == p.Value {
			t.Errorf("%x is %+v, then %+v, %v", data, p, again, err)
		}
	})
}
