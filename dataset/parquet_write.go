package dataset

import (
	"os"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A parquetWriter writes Parquet. Each batch is a row group, which is encoded and compressed
// independently of the others. All columns are optional.
type parquetWriter struct {
	schema   Schema
	columns  []int // of a batch, in the file's order
	geometry bool  // a column of geometries follows them
	out      *parquet.GenericWriter[any]
	begin    sync.Mutex
	spare    sync.Pool // of *parquetGroup
	bounds   geom.Bounds
}

// A parquetGroup is a row group with buffers for values on their way to it.
type parquetGroup struct {
	*parquet.ConcurrentRowGroupWriter
	bounds geom.Bounds // of its locations
	values [1024]parquet.Value
	texts  Column // of numbers that are written as texts
	wkb    [1024 * geom.WKBSize]byte
}

func createParquet(file *os.File, s Schema) (Writer, error) {
	columns := make([]int, len(s.Fields))
	for i := range columns {
		columns[i] = i
	}
	return newParquetWriter(file, s, columns, nil), nil
}

func newParquetWriter(file *os.File, s Schema, columns []int, more []parquet.Field) *parquetWriter {
	fields := make([]parquet.Field, len(columns))
	for n, i := range columns {
		fields[n] = parquetField{parquetNode(s.Fields[i].Kind), s.Fields[i].Name}
	}
	schema := parquet.NewSchema("table", parquetFields{fields: append(fields, more...)})
	codec := &zstd.Codec{Level: zstd.SpeedFastest} // noise does not compress any better
	out := parquet.NewGenericWriter[any](file, schema, parquet.Compression(codec))
	return &parquetWriter{schema: s, columns: columns, geometry: more != nil, out: out}
}

// parquetNode returns an optional column of a kind. Text has no dictionary. For a column of
// distinct texts it would take ten times the memory of the batch, and repetitions compress
// well without it.
func parquetNode(kind Kind) parquet.Node {
	switch kind {
	case Integer:
		return parquet.Optional(parquet.Encoded(parquet.Int(64), &parquet.Plain))
	case Real:
		return parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain))
	default:
		return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.Plain))
	}
}

// parquetFields holds the columns of a file in their order, since parquet.Group would
// sort them.
type parquetFields struct {
	parquet.Group
	fields []parquet.Field
}

func (f parquetFields) Fields() []parquet.Field { return f.fields }

// A parquetField is a column of a file.
type parquetField struct {
	parquet.Node
	name string
}

func (f parquetField) Name() string { return f.name }

// Value implements [parquet.Field]. Nothing calls it, since no rows are Go values.
func (f parquetField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

func (w *parquetWriter) Encode(rows *Rows) (Block, error) {
	g := w.group()
	for n, column := range w.columns {
		if err := w.encode(g, n, rows, column); err != nil {
			return nil, err
		}
	}
	if w.geometry {
		g.bounds = geom.Bounds{}
		if err := w.encodeGeometry(g, rows); err != nil {
			return nil, err
		}
	}
	return g, g.Flush()
}

func (w *parquetWriter) group() *parquetGroup {
	if g, _ := w.spare.Get().(*parquetGroup); g != nil {
		return g
	}
	w.begin.Lock()
	defer w.begin.Unlock()
	return &parquetGroup{ConcurrentRowGroupWriter: w.out.BeginRowGroup()}
}

// encode writes a column of the batch into column n of the group.
func (w *parquetWriter) encode(g *parquetGroup, n int, rows *Rows, column int) error {
	field := w.schema.Fields[column]
	cells := &rows.Columns[column]
	if field.Kind == Text {
		cells = cells.Texts(&g.texts) // values share the memory of their texts until they are written
	}
	for i := 0; i < rows.Len(); {
		values := g.values[:min(len(g.values), rows.Len()-i)]
		for k := range values {
			v, ok := parquetValue(field.Kind, cells, i)
			if !ok {
				return rows.MisfitError(i, column, field)
			}
			values[k] = v.Level(0, definition(v), n)
			i++
		}
		if _, err := g.ColumnWriters()[n].WriteRowValues(values); err != nil {
			return err
		}
	}
	return nil
}

// definition returns the definition level of a value of an optional column.
func definition(v parquet.Value) int {
	if v.IsNull() {
		return 0
	}
	return 1
}

// parquetValue returns a cell. It reports false if the cell is not of the kind.
func parquetValue(kind Kind, column *Column, i int) (_ parquet.Value, ok bool) {
	var null bool
	switch kind {
	case Integer:
		var v int64
		if v, null, ok = column.Integer(i); !null {
			return parquet.Int64Value(v), ok
		}
	case Real:
		var v float64
		if v, null, ok = column.Real(i); !null {
			return parquet.DoubleValue(v), ok
		}
	default:
		var text []byte
		if text, null = column.At(i); !null {
			return parquet.ByteArrayValue(text), utf8.Valid(text)
		}
	}
	return parquet.NullValue(), true
}

func (w *parquetWriter) Append(block Block) error {
	g := block.(*parquetGroup)
	if _, err := g.Commit(); err != nil {
		return err
	}
	w.bounds.Merge(g.bounds)
	w.spare.Put(g)
	return nil
}

func (w *parquetWriter) Close() error {
	if w.geometry {
		w.out.SetKeyValueMetadata("geo", geoMetadata(w.schema.geometryName(), w.bounds))
	}
	return w.out.Close()
}
