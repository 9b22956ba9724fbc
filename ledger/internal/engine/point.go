package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Points are stored in blocks of points that were saved together: a row for each point
// would take longer than all the rest of a step. In a block each point has pointSize bytes:
// flags, time in microseconds since 1970, spent, latitude and longitude. If a flag says that
// it is a reading, its value stands in place of the latitude, and 0 in place of the longitude.
// If a flag says that it has a location set, setSize bytes follow.
const (
	pointSize = 1 + 4*8
	setSize   = 4
)

const (
	hardFlag = 1 << iota
	testedFlag
	gapFlag
	setFlag
	readingFlag
	allFlags = hardFlag | testedFlag | gapFlag | setFlag | readingFlag
)

// appendPoint appends a point to a block.
func appendPoint(b []byte, p *ledger.Point) []byte {
	var at int64
	if !p.Gap {
		at = p.Time.UnixMicro()
	}
	first, second := p.Lat, p.Lon
	if p.Reading {
		first, second = p.Value, 0
	}
	b = append(b, flag(p.Hard, hardFlag)|flag(p.Tested, testedFlag)|flag(p.Gap, gapFlag)|
		flag(p.SetSize > 0, setFlag)|flag(p.Reading, readingFlag))
	for _, v := range [...]uint64{uint64(at), uint64(p.Spent), math.Float64bits(first), math.Float64bits(second)} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	if p.SetSize > 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(p.SetSize))
	}
	return b
}

// flag returns a flag if it is set, and else 0.
func flag(set bool, flag byte) byte {
	if !set {
		return 0
	}
	return flag
}

var errRun = errors.New("the ledger is damaged: a run cannot be read")

// parsePoint reads a point that appendPoint has appended, and returns the rest.
func parsePoint(b []byte) (p ledger.Point, rest []byte, err error) {
	if len(b) < pointSize || b[0]&^allFlags != 0 {
		return ledger.Point{}, nil, errRun
	}
	field := func(i int) uint64 { return binary.BigEndian.Uint64(b[1+8*i:]) }
	p = ledger.Point{
		Hard: b[0]&hardFlag != 0, Tested: b[0]&testedFlag != 0, Gap: b[0]&gapFlag != 0,
		Reading: b[0]&readingFlag != 0,
		Spent:   budget.Amount(field(1)),
	}
	if p.Reading {
		p.Value = math.Float64frombits(field(2))
	} else {
		p.Lat, p.Lon = math.Float64frombits(field(2)), math.Float64frombits(field(3))
	}
	if !p.Gap {
		p.Time = time.UnixMicro(int64(field(0))).UTC()
	}
	rest = b[pointSize:]
	if b[0]&setFlag == 0 {
		return p, rest, nil
	}
	if len(rest) < setSize {
		return ledger.Point{}, nil, errRun
	}
	p.SetSize = int(binary.BigEndian.Uint32(rest))
	return p, rest[setSize:], nil
}

// EncodePoints returns the block of points that are saved together.
func EncodePoints(points []ledger.Point) []byte {
	block := make([]byte, 0, len(points)*(pointSize+setSize))
	for i := range points {
		block = appendPoint(block, &points[i])
	}
	return block
}

// AppendPoints appends the points of a block.
func AppendPoints(points []ledger.Point, block []byte) ([]ledger.Point, error) {
	for len(block) > 0 {
		p, rest, err := parsePoint(block)
		if err != nil {
			return nil, err
		}
		points, block = append(points, p), rest
	}
	return points, nil
}
