package dataset

import (
	"encoding/json"
	"os"
	"strconv"
	"unicode/utf8"
)

// A geoJSONWriter writes a FeatureCollection (RFC 7946) with a line for every row. The
// location of a row becomes the geometry, its other fields become properties.
type geoJSONWriter struct {
	textFile
	schema  Schema
	columns []int    // the columns that are properties
	keys    [][]byte // for each property: the JSON text before its value
	some    bool     // a feature was written
}

func createGeoJSON(file *os.File, s Schema) (Writer, error) {
	w := &geoJSONWriter{textFile: textFile{file: file}, schema: s, columns: s.Attributes()}
	for n, i := range w.columns {
		key := appendJSON(nil, []byte(s.Fields[i].Name))
		if n > 0 {
			key = append([]byte{','}, key...)
		}
		w.keys = append(w.keys, append(key, ':'))
	}
	head := appendJSON([]byte(`{"type":"FeatureCollection","name":`), []byte(s.Name))
	_, err := file.Write(append(head, `,"features":[`...))
	return w, err
}

func (w *geoJSONWriter) Encode(rows *Rows) (Block, error) {
	out := w.buffer()
	var err error
	for i := range rows.Len() {
		if out.b, err = w.appendFeature(out.b, rows, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Append replaces the comma before the very first feature.
func (w *geoJSONWriter) Append(block Block) error {
	if b := block.(*buffer).b; !w.some && len(b) > 0 {
		w.some = true
		b[0] = ' '
	}
	return w.textFile.Append(block)
}

func (w *geoJSONWriter) Close() error {
	_, err := w.file.WriteString("\n]}\n")
	return err
}

func (w *geoJSONWriter) appendFeature(out []byte, rows *Rows, i int) ([]byte, error) {
	lat, lon, null, err := w.schema.Location(rows, i)
	if err != nil {
		return nil, err
	}
	out = append(out, ",\n"+`{"type":"Feature","geometry":`...)
	if null {
		out = append(out, "null"...)
	} else {
		out = appendReal(append(out, `{"type":"Point","coordinates":[`...), lon, 64)
		out = append(appendReal(append(out, ','), lat, 64), "]}"...)
	}
	out = append(out, `,"properties":{`...)
	for n, column := range w.columns {
		var ok bool
		out, ok = appendJSONValue(append(out, w.keys[n]...), w.schema.Fields[column].Kind, &rows.Columns[column], i)
		if !ok {
			return nil, rows.MisfitError(i, column, w.schema.Fields[column])
		}
	}
	return append(out, "}}"...), nil
}

// appendJSONValue appends a cell. It reports false if the cell is not of the kind.
func appendJSONValue(out []byte, kind Kind, column *Column, i int) (_ []byte, ok bool) {
	var null bool
	switch kind {
	case Integer:
		var v int64
		if v, null, ok = column.Integer(i); !null {
			return strconv.AppendInt(out, v, 10), ok
		}
	case Real:
		var v float64
		if v, null, ok = column.Real(i); !null {
			return appendReal(out, v, 64), ok && finite(v)
		}
	default:
		var text []byte
		if text, null = column.At(i); !null {
			return appendJSON(out, text), utf8.Valid(text)
		}
	}
	return append(out, "null"...), true
}

// appendJSON appends text as a JSON string.
func appendJSON(out, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(string(text)) // the error of a string is nil
			return append(out, quoted...)
		}
	}
	out = append(append(out, '"'), text...)
	return append(out, '"')
}
