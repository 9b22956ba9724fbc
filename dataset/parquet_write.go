package dataset

import (
	"encoding/binary"
	"os"
	"sync"

	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A parquetWriter writes Parquet. Each batch is a row group, which is encoded and compressed
// independently of the others. All columns are optional, and a row group has one page of each.
//
// The pages are our own, since the writer of package parquet takes values of 24 bytes one by one,
// which takes longer than everything else that is done to write a number.
type parquetWriter struct {
	schema   Schema
	columns  []parquetLeaf // in the file's order
	geometry bool          // the last one is of geometries
	file     *os.File
	size     int64 // of the written pages
	rows     int64
	groups   []format.RowGroup
	spare    sync.Pool // of *parquetGroup
	bounds   geom.Bounds
}

// A parquetLeaf is a column of a file.
type parquetLeaf struct {
	name     string
	node     parquet.Node
	column   int  // of a batch
	released bool // a coordinate: its noise does not become shorter
}

const parquetMagic = "PAR1"

func createParquet(file *os.File, s Schema) (Writer, error) {
	columns := make([]int, len(s.Fields))
	for i := range columns {
		columns[i] = i
	}
	return newParquetWriter(file, s, columns)
}

// newParquetWriter begins a file of some columns of a batch.
func newParquetWriter(file *os.File, s Schema, columns []int) (*parquetWriter, error) {
	w := &parquetWriter{schema: s, file: file}
	for _, i := range columns {
		f := s.Fields[i]
		w.columns = append(w.columns, parquetLeaf{f.Name, parquetNode(f.Kind), i, s.isCoordinate(i)})
	}
	return w, w.write([]byte(parquetMagic))
}

// parquetNode returns the type of a column of a kind. Text has no dictionary. For a column of
// distinct texts it would take ten times the memory of the batch, and repetitions compress
// well without it.
func parquetNode(kind Kind) parquet.Node {
	switch kind {
	case Integer:
		return parquet.Int(64)
	case Real:
		return parquet.Leaf(parquet.DoubleType)
	default:
		return parquet.String()
	}
}

func (w *parquetWriter) write(text []byte) error {
	n, err := w.file.Write(text)
	w.size += int64(n)
	return err
}

func (w *parquetWriter) Encode(rows *Rows) (Block, error) {
	g, _ := w.spare.Get().(*parquetGroup)
	if g == nil {
		g = new(parquetGroup)
	}
	g.begin(rows.Len())
	for n := range w.columns {
		var err error
		if w.geometry && n == len(w.columns)-1 {
			err = g.encodeGeometries(&w.schema, rows)
		} else {
			err = g.encode(rows, w.columns[n].column, w.schema.Fields[w.columns[n].column])
		}
		if err == nil {
			err = g.addPage(&w.columns[n])
		}
		if err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (w *parquetWriter) Append(block Block) error {
	g := block.(*parquetGroup)
	if g.rows == 0 {
		return nil
	}
	if len(w.groups) == parquet.MaxRowGroups {
		return parquet.ErrTooManyRowGroups
	}
	group := format.RowGroup{Columns: g.chunks, NumRows: int64(g.rows), FileOffset: w.size, Ordinal: int16(len(w.groups))}
	for i := range g.chunks {
		chunk := &g.chunks[i].MetaData
		chunk.DataPageOffset += w.size
		group.TotalByteSize += chunk.TotalUncompressedSize
		group.TotalCompressedSize += chunk.TotalCompressedSize
	}
	if err := w.write(g.pages.b); err != nil {
		return err
	}
	w.groups = append(w.groups, group)
	w.rows += group.NumRows
	w.bounds.Merge(g.bounds)
	w.spare.Put(g)
	return nil
}

// Close writes the footer.
func (w *parquetWriter) Close() error {
	file := format.FileMetaData{Version: 1, NumRows: w.rows, RowGroups: w.groups, CreatedBy: "geosql"}
	file.Schema = append(file.Schema, format.SchemaElement{Name: "table", NumChildren: thrift.New(int32(len(w.columns)))})
	for _, column := range w.columns {
		file.Schema = append(file.Schema, column.element())
		file.ColumnOrders = append(file.ColumnOrders, *column.node.Type().ColumnOrder())
	}
	if w.geometry {
		file.KeyValueMetadata = append(file.KeyValueMetadata, format.KeyValue{Key: "geo", Value: geoMetadata(w.schema.geometryName(), w.bounds)})
	}
	var footer buffer
	if err := footer.encode(&file); err != nil {
		return err
	}
	footer.b = binary.LittleEndian.AppendUint32(footer.b, uint32(len(footer.b)))
	return w.write(append(footer.b, parquetMagic...))
}

// element returns the column as the footer describes it.
func (c *parquetLeaf) element() format.SchemaElement {
	t := c.node.Type()
	e := format.SchemaElement{Name: c.name, Type: thrift.New(*t.PhysicalType()), RepetitionType: thrift.New(format.Optional)}
	if converted := t.ConvertedType(); converted != nil {
		e.ConvertedType = thrift.New(*converted)
	}
	if logical := t.LogicalType(); logical != nil {
		e.LogicalType = *logical
	}
	return e
}

// encode appends a structure of the format.
func (b *buffer) encode(v any) error {
	return thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(b)).Encode(v)
}
