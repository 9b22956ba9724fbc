package dataset

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A printer appends a value that is not NULL as text. It is nil for values that are the cells: signed
// integers, reals of 64 bits, and text.
type printer func(out []byte, v parquet.Value) []byte

// parquetPrinter returns the kind of a column of a file and the printer of its values.
func parquetPrinter(column *parquet.Column) (Kind, printer, error) {
	if !column.Leaf() || column.Repeated() {
		return Text, nil, errors.New("nested columns cannot be read")
	}
	if t := column.Type().LogicalType(); t != nil {
		if kind, print, known := logicalPrinter(column.Type(), t.Value); known {
			return kind, print, nil
		}
		return Text, nil, fmt.Errorf("type %s is not supported", column.Type())
	}
	switch column.Type().Kind() {
	case parquet.Boolean:
		return Text, func(out []byte, v parquet.Value) []byte { return strconv.AppendBool(out, v.Boolean()) }, nil
	case parquet.Int32, parquet.Int64:
		return Integer, nil, nil
	case parquet.Float:
		return Real, func(out []byte, v parquet.Value) []byte { return appendReal(out, float64(v.Float()), 32) }, nil
	case parquet.Double:
		return Real, nil, nil
	default:
		return Text, nil, fmt.Errorf("type %s is not supported (a geometry?)", column.Type())
	}
}

// logicalPrinter returns the same for a column with a logical type.
func logicalPrinter(column parquet.Type, logical format.LogicalTypeValue) (Kind, printer, bool) {
	physical := column.Kind()
	switch t := logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return Text, nil, physical == parquet.ByteArray
	case *format.IntType:
		if t.IsSigned {
			return Integer, nil, true
		}
		return Integer, unsignedPrinter(physical), true
	case *format.DateType:
		return Text, printDate, true
	case *format.TimestampType:
		return Text, timePrinter("2006-01-02T15:04:05.999999999", t.IsAdjustedToUTC, t.Unit), physical == parquet.Int64
	case *format.TimeType:
		return Text, timePrinter("15:04:05.999999999", t.IsAdjustedToUTC, t.Unit), physical == parquet.Int32 || physical == parquet.Int64
	case *format.DecimalType:
		return decimalPrinter(column, t)
	case *format.UUIDType:
		return Text, printUUID, physical == parquet.FixedLenByteArray && column.Length() == 16
	default:
		return Text, nil, false
	}
}

// unsignedPrinter returns the printer of unsigned integers.
func unsignedPrinter(physical parquet.Kind) printer {
	if physical == parquet.Int32 {
		return func(out []byte, v parquet.Value) []byte { return strconv.AppendUint(out, uint64(v.Uint32()), 10) }
	}
	return func(out []byte, v parquet.Value) []byte { return strconv.AppendUint(out, v.Uint64(), 10) }
}

func printDate(out []byte, v parquet.Value) []byte {
	return time.Unix(int64(v.Int32())*24*60*60, 0).UTC().AppendFormat(out, time.DateOnly)
}

// timePrinter returns a printer of times in ISO 8601, with a Z if the times are in UTC.
func timePrinter(layout string, utc bool, unit format.TimeUnit) printer {
	if utc {
		layout += "Z"
	}
	perSecond := int64(1e9)
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		perSecond = 1e3
	case *format.MicroSeconds:
		perSecond = 1e6
	}
	return func(out []byte, v parquet.Value) []byte {
		at := wholeNumber(v)
		return time.Unix(at/perSecond, at%perSecond*(1e9/perSecond)).UTC().AppendFormat(out, layout)
	}
}

func wholeNumber(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func printUUID(out []byte, v parquet.Value) []byte {
	b := v.ByteArray()
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			out = append(out, '-')
		}
		out = hex.AppendEncode(out, part)
	}
	return out
}
