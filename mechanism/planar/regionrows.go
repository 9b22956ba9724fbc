package planar

import (
	"encoding/binary"
	"errors"
	"hash/crc64"
	"math"

	"github.com/geosql/geosql/internal/varint"
)

// rowsVersion is the first byte of stored rows. In version 1 the checksum was a SHA-256 digest.
const rowsVersion = 2

// rowsHeader is the length of the header before the strips.
const rowsHeader = 1 + crc64.Size

var errRows = errors.New("not the rows of the region")

// RegionRows returns the admissible lattice points of the domain's region in binary
// form, from which [Domain.WithRegionRows] restores the region, or nil for a domain
// without one. The form:
//
//	version    1, a byte
//	checksum   CRC-64 (ECMA-182) of the inputs of the rows and all that follows, big-endian
//	strips     each a run of points in a row, in the order of strip.zKey, as three varints
//	           of encoding/binary: the row and the first index in it, as differences from
//	           those of the strip before (zigzag), and the number of points less one
func (d *Domain) RegionRows() []byte {
	if d.region == nil {
		return nil
	}
	b := make([]byte, rowsHeader, rowsHeader+4*len(d.region.strips))
	b[0] = rowsVersion
	var before strip
	for _, s := range d.region.strips {
		b = binary.AppendVarint(b, int64(s.row)-int64(before.row))
		b = binary.AppendVarint(b, int64(s.lo)-int64(before.lo))
		b = binary.AppendUvarint(b, uint64(s.hi-s.lo))
		before = s
	}
	binary.BigEndian.PutUint64(b[1:], crc64.Update(d.region.inputs, rowsTable, b[rowsHeader:]))
	return b
}

// WithRegionRows returns the result of [Domain.WithRegion], from the rows that RegionRows
// returned for the same polygon on a domain of the same box and step. It parses no
// polygon and takes milliseconds. It returns an error for rows of anything else and for
// damaged rows; WithRegion then computes them anew.
//
// Forged rows could move outputs elsewhere, but reveal nothing: a region moves points
// that were drawn already, and it is public.
func (d *Domain) WithRegionRows(wkt string, rows []byte) (*Domain, error) {
	if len(rows) < rowsHeader || rows[0] != rowsVersion {
		return nil, errRows
	}
	inputs, strips := d.regionChecksum(wkt), rows[rowsHeader:]
	if crc64.Update(inputs, rowsTable, strips) != binary.BigEndian.Uint64(rows[1:]) {
		return nil, errRows
	}
	parsed, ok := parseStrips(strips)
	if !ok {
		return nil, errRows
	}
	r := newRegion(parsed, inputs)
	if !d.containsExtent(r.extent[1]) {
		return nil, errRows
	}
	return d.restricted(r), nil
}

// containsExtent reports whether an extent lies within the box, up to the rounding of
// printed points.
func (d *Domain) containsExtent(e extent) bool {
	low, high := d.Extent()
	slack := int64(math.Ceil(0.01 / d.step))
	return int64(e.west) >= low.I-slack && int64(e.south) >= low.J-slack &&
		int64(e.east) <= high.I+slack && int64(e.north) <= high.J+slack
}

var rowsTable = crc64.MakeTable(crc64.ECMA)

// regionChecksum returns the checksum of the inputs of a region's rows.
func (d *Domain) regionChecksum(wkt string) uint64 {
	b := make([]byte, 0, 5*8+len(wkt))
	for _, v := range []float64{d.box.South, d.box.West, d.box.North, d.box.East, d.step} {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return crc64.Checksum(append(b, wkt...), rowsTable)
}

// parseStrips returns the strips in b. It reports false unless b holds at least one strip,
// in strict order, and nothing else.
func parseStrips(b []byte) (strips []strip, ok bool) {
	r := varint.New(b)
	strips = make([]strip, 0, len(b)/3) // a strip takes at least three bytes
	var before strip
	for r.Len() > 0 {
		row, lo := int64(before.row)+r.Varint(), int64(before.lo)+r.Varint() // far outside where they overflow
		hi := lo + int64(min(r.Uvarint(), math.MaxUint32))
		s := strip{int32(row), int32(lo), int32(hi)}
		fits := row == int64(s.row) && lo == int64(s.lo) && hi == int64(s.hi)
		if r.Failed() || !fits || len(strips) > 0 && s.zKey() <= before.zKey() {
			return nil, false
		}
		strips = append(strips, s)
		before = s
	}
	return strips, len(strips) > 0
}
