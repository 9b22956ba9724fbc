package dataset

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A parquetGroup is an encoded row group.
type parquetGroup struct {
	rows   int
	pages  buffer
	chunks []format.ColumnChunk // their offsets are those in pages
	bounds geom.Bounds          // of its geometries

	// of the column that is encoded:
	values  []byte // the values that are not NULL, one after another
	present []byte // a bit for each row: whether it is not NULL
	nulls   int
	low     [8]byte // the least number, as it is stored
	high    [8]byte // the greatest one
	bounded bool    // there are such numbers

	levels []byte // room
	packed []byte // room
	texts  Column // room for texts of numbers
}

func (g *parquetGroup) begin(rows int) {
	g.rows, g.pages.b, g.chunks, g.bounds = rows, g.pages.b[:0], nil, geom.Bounds{}
}

// beginColumn begins a column with values of size bytes altogether.
func (g *parquetGroup) beginColumn(size int) {
	g.values = slices.Grow(g.values[:0], size)
	g.present = slices.Grow(g.present[:0], g.rows/8+1)[:(g.rows+7)/8]
	clear(g.present)
	g.nulls, g.bounded = 0, false
}

// setPresent says that a row is not NULL.
func (g *parquetGroup) setPresent(row int) { g.present[row/8] |= 1 << (row % 8) }

// encode encodes a column of the batch as values of its field's kind.
func (g *parquetGroup) encode(rows *Rows, column int, field Field) error {
	cells := &rows.Columns[column]
	misfit := -1
	switch field.Kind {
	case Integer:
		misfit = g.encodeIntegers(cells)
	case Real:
		misfit = g.encodeReals(cells)
	default:
		misfit = g.encodeTexts(cells.Texts(&g.texts))
	}
	if misfit >= 0 {
		return rows.MisfitError(misfit, column, field)
	}
	return nil
}

// encodeIntegers encodes a column. It returns the first row with a cell that is not an integer, or -1.
func (g *parquetGroup) encodeIntegers(cells *Column) (misfit int) {
	g.beginColumn(8 * g.rows)
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range g.rows {
		v, null, ok := cells.Integer(i)
		if !ok {
			return i
		}
		if null {
			g.nulls++
			continue
		}
		g.setPresent(i)
		g.values = binary.LittleEndian.AppendUint64(g.values, uint64(v))
		low, high = min(low, v), max(high, v)
	}
	g.setBounds(low <= high, uint64(low), uint64(high))
	return -1
}

// encodeReals encodes a column. It returns the first row with a cell that is not a number, or -1.
func (g *parquetGroup) encodeReals(cells *Column) (misfit int) {
	g.beginColumn(8 * g.rows)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range g.rows {
		v, null, ok := cells.Real(i)
		if !ok {
			return i
		}
		if null {
			g.nulls++
			continue
		}
		g.setPresent(i)
		g.values = binary.LittleEndian.AppendUint64(g.values, math.Float64bits(v))
		if v < low { // NaN is not a bound
			low = v
		}
		if v > high {
			high = v
		}
	}
	g.setBounds(low <= high, math.Float64bits(low), math.Float64bits(high))
	return -1
}

func (g *parquetGroup) setBounds(some bool, low, high uint64) {
	g.bounded = some
	binary.LittleEndian.PutUint64(g.low[:], low)
	binary.LittleEndian.PutUint64(g.high[:], high)
}

// encodeTexts encodes a column. It returns the first row with a cell that is not UTF-8, or -1.
func (g *parquetGroup) encodeTexts(cells *Column) (misfit int) {
	g.beginColumn(len(cells.text) + 4*g.rows)
	valid := cells.isUTF8()
	for i := range g.rows {
		text, null := cells.textAt(i)
		if null {
			g.nulls++
			continue
		}
		if !valid && !utf8.Valid(text) {
			return i
		}
		g.setPresent(i)
		g.values = binary.LittleEndian.AppendUint32(g.values, uint32(len(text)))
		g.values = append(g.values, text...)
	}
	return -1
}

// addPage adds a page of the encoded values.
func (g *parquetGroup) addPage(c *parquetLeaf) error {
	start := len(g.pages.b)
	g.setLevels()
	values, codec := g.values, format.Uncompressed
	if !c.released {
		codec = format.Zstd
		var err error
		if g.packed, err = parquetCodec.Encode(g.packed, g.values); err != nil {
			return err
		}
		if len(g.packed) < len(values) {
			values = g.packed
		}
	}
	header := format.PageHeader{
		Type:                 format.DataPageV2,
		UncompressedPageSize: int32(len(g.levels) + len(g.values)),
		CompressedPageSize:   int32(len(g.levels) + len(values)),
		CRC:                  int32(crc32.Update(crc32.ChecksumIEEE(g.levels), crc32.IEEETable, values)),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(g.rows), NumNulls: int32(g.nulls), NumRows: int32(g.rows), Encoding: format.Plain,
			DefinitionLevelsByteLength: int32(len(g.levels)), IsCompressed: thrift.New(len(values) < len(g.values)),
		}),
	}
	if err := g.pages.encode(&header); err != nil {
		return err
	}
	length := len(g.pages.b) - start
	g.pages.b = append(append(g.pages.b, g.levels...), values...)
	chunk := format.ColumnMetaData{
		Type: *c.node.Type().PhysicalType(), Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: []string{c.name}, Codec: codec,
		NumValues: int64(g.rows), DataPageOffset: int64(start),
		TotalUncompressedSize: int64(length) + int64(header.UncompressedPageSize),
		TotalCompressedSize:   int64(length) + int64(header.CompressedPageSize),
		Statistics:            format.Statistics{NullCount: int64(g.nulls)},
	}
	if g.bounded {
		chunk.Statistics.MinValue, chunk.Statistics.MaxValue = slices.Clone(g.low[:]), slices.Clone(g.high[:])
	}
	g.chunks = append(g.chunks, format.ColumnChunk{MetaData: chunk})
	return nil
}

var parquetCodec = zstd.Codec{Level: zstd.SpeedFastest}

// setLevels sets the definition levels: a run of ones if no row is NULL, otherwise a bit for each
// row (parquet-format, Encodings, RLE/Bit-Packing Hybrid).
func (g *parquetGroup) setLevels() {
	if g.nulls == 0 {
		g.levels = append(binary.AppendUvarint(g.levels[:0], uint64(g.rows)<<1), 1)
		return
	}
	g.levels = append(binary.AppendUvarint(g.levels[:0], uint64(len(g.present))<<1|1), g.present...)
}
