package wire

import (
	"math"

	"github.com/jackc/pgx/v5/pgproto3"
)

// The numbers of types that values are encoded for. A column may have any other type too: its values are text.
const (
	OIDBool        = 16
	OIDBytea       = 17
	OIDChar        = 18 // "char", one byte
	OIDName        = 19
	OIDInt8        = 20
	OIDInt2        = 21
	OIDInt4        = 23
	OIDText        = 25
	OIDOid         = 26
	OIDJSON        = 114
	OIDXML         = 142
	OIDFloat4      = 700
	OIDFloat8      = 701
	OIDUnknown     = 705
	OIDBpchar      = 1042
	OIDVarchar     = 1043
	OIDDate        = 1082
	OIDTimestamp   = 1114
	OIDTimestamptz = 1184
	OIDNumeric     = 1700
	OIDUUID        = 2950
)

// A kind is how values of a type are encoded.
type kind byte

const (
	kindOther kind = iota // text, without a binary form
	kindText              // text, with the same binary form
	kindInt2
	kindInt4
	kindInt8
	kindOid
	kindFloat4
	kindFloat8
	kindBool
	kindBytea
	kindNumeric
	kindArray
)

// kinds are the kinds of types that are not arrays.
var kinds = map[uint32]kind{
	OIDText: kindText, OIDVarchar: kindText, OIDBpchar: kindText, OIDName: kindText, OIDChar: kindText, OIDUnknown: kindText,
	OIDJSON: kindText, OIDXML: kindText, OIDInt2: kindInt2, OIDInt4: kindInt4, OIDInt8: kindInt8, OIDOid: kindOid,
	OIDFloat4: kindFloat4, OIDFloat8: kindFloat8, OIDBool: kindBool, OIDBytea: kindBytea, OIDNumeric: kindNumeric,
}

func kindOf(oid uint32) kind {
	if elements[oid] != 0 {
		return kindArray
	}
	return kinds[oid] // kindOther for others
}

// ranges are the least and the largest number of kinds of whole numbers.
var ranges = [kindArray + 1][2]int64{
	kindInt2: {math.MinInt16, math.MaxInt16}, kindInt4: {math.MinInt32, math.MaxInt32}, kindInt8: {math.MinInt64, math.MaxInt64},
	kindOid: {0, math.MaxUint32},
}

// Fits reports whether a type has a number, if it is one of whole numbers.
func Fits(oid uint32, v int64) bool { return kindOf(oid).fits(v) }

// fits reports whether a number is one of the kind, if that is one of whole numbers.
func (k kind) fits(v int64) bool {
	r := ranges[k]
	return r[1] == 0 || r[0] <= v && v <= r[1]
}

// HasBinary reports whether values of a type can be sent in binary. A client that asks for others in binary gets an
// error when it binds.
func HasBinary(oid uint32) bool { return kindOf(oid) != kindOther }

// typeSize returns the size of a type's values in a RowDescription: -1 if they differ.
func typeSize(oid uint32) int16 {
	switch oid {
	case OIDBool, OIDChar:
		return 1
	case OIDInt2:
		return 2
	case OIDInt4, OIDOid, OIDFloat4, OIDDate:
		return 4
	case OIDInt8, OIDFloat8, OIDTimestamp, OIDTimestamptz:
		return 8
	case OIDUUID:
		return 16
	case OIDName:
		return 64
	case OIDUnknown:
		return -2
	}
	return -1
}

// description describes columns, in the formats that formats returns for them.
func description(columns []Column, formats []int16) *pgproto3.RowDescription {
	fields := make([]pgproto3.FieldDescription, len(columns))
	for i, c := range columns {
		fields[i] = pgproto3.FieldDescription{
			Name:                 []byte(clean(c.Name)),
			TableOID:             c.Table,
			TableAttributeNumber: c.Number,
			DataTypeOID:          c.OID,
			DataTypeSize:         typeSize(c.OID),
			TypeModifier:         c.TypeModifier - 1,
		}
		if formats != nil {
			fields[i].Format = formats[i]
		}
	}
	return &pgproto3.RowDescription{Fields: fields}
}
