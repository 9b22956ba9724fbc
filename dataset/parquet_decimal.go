package dataset

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// decimalPrinter returns the kind and the printer of a column of numbers with a fixed number
// of decimals, which are stored as integers in units of the last decimal. Numbers with more
// digits than the other kinds hold are Text.
func decimalPrinter(column parquet.Type, t *format.DecimalType) (Kind, printer, bool) {
	const most, mostInteger, mostReal = 38, 18, 15 // digits
	if t.Scale < 0 || t.Scale > t.Precision || t.Precision > most {
		return Text, nil, false
	}
	kind := Text
	switch {
	case t.Scale == 0 && t.Precision <= mostInteger:
		kind = Integer
	case t.Precision <= mostReal:
		kind = Real
	}
	scale := int(t.Scale)
	switch column.Kind() {
	case parquet.Int32, parquet.Int64:
		return kind, func(out []byte, v parquet.Value) []byte {
			var room [20]byte
			return appendDecimal(out, strconv.AppendInt(room[:0], wholeNumber(v), 10), scale)
		}, true
	case parquet.FixedLenByteArray:
		return kind, func(out []byte, v parquet.Value) []byte {
			return appendDecimal(out, twosComplement(v.ByteArray()).Append(nil, 10), scale)
		}, column.Length() <= 16
	}
	return Text, nil, false
}

// appendDecimal appends an integer with a decimal point before its last scale digits.
func appendDecimal(out, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(out, digits...)
	}
	if digits[0] == '-' {
		out, digits = append(out, '-'), digits[1:]
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, missing), digits...)
	}
	whole := len(digits) - scale
	out = append(append(out, digits[:whole]...), '.')
	return append(out, digits[whole:]...)
}

// twosComplement returns the number that big-endian bytes represent.
func twosComplement(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}
