package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func validText(v []byte) bool { return bytes.IndexByte(v, 0) < 0 && utf8.Valid(v) }

// clean returns a text that the protocol can carry: UTF-8 without zero bytes.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
}

// readParameter reads a parameter of a type as an argument of Statement.Query. It does not keep v.
func readParameter(number int, oid uint32, isBinary bool, v []byte) (any, error) {
	if v == nil {
		return nil, nil
	}
	read := readText
	if isBinary {
		read = readBinary
	}
	value, err := read(oid, v)
	var e *Error
	switch {
	case errors.As(err, &e):
		return nil, &Error{Code: e.Code, Message: fmt.Sprintf("parameter $%d: %s", number, e.Message), Hint: e.Hint}
	case err != nil:
		return nil, newError("22P02", fmt.Sprintf("parameter $%d: %s", number, err))
	}
	return value, nil
}

func readText(oid uint32, v []byte) (any, error) {
	if !validText(v) {
		return nil, newError("22021", "the text is not UTF-8, or holds a zero byte")
	}
	switch k := kindOf(oid); k {
	case kindInt2, kindInt4, kindInt8, kindOid:
		return readInt(v, k)
	case kindFloat4:
		return readFloat(v, 32)
	case kindFloat8:
		return readFloat(v, 64)
	case kindBool:
		return readBool(v)
	case kindBytea:
		return readBytea(v)
	}
	return string(v), nil
}

func readInt(v []byte, k kind) (any, error) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(v)), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && !k.fits(n):
		return nil, newError("22003", "the integer is out of range")
	case err != nil:
		return nil, fmt.Errorf("%q is not an integer", clip(v))
	}
	return n, nil
}

func readFloat(v []byte, bits int) (any, error) {
	f, err := strconv.ParseFloat(string(bytes.TrimSpace(v)), bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, newError("22003", "the number is out of range")
	case err != nil:
		return nil, fmt.Errorf("%q is not a number", clip(v))
	}
	return f, nil
}

func readBool(v []byte) (any, error) {
	s := strings.ToLower(string(bytes.TrimSpace(v)))
	switch s {
	case "on", "1":
		return true, nil
	case "of", "off", "0":
		return false, nil
	}
	if s != "" && strings.HasPrefix("true", s) || s != "" && strings.HasPrefix("yes", s) {
		return true, nil
	}
	if s != "" && strings.HasPrefix("false", s) || s != "" && strings.HasPrefix("no", s) {
		return false, nil
	}
	return nil, fmt.Errorf("%q is not a truth value", clip(v))
}

// readBytea reads both text forms of a bytea, \x68 and h\000.
func readBytea(v []byte) (any, error) {
	if digits, ok := bytes.CutPrefix(v, []byte(`\x`)); ok {
		data, err := hex.DecodeString(string(digits))
		if err != nil {
			return nil, errors.New("the bytea is not in hexadecimal digits")
		}
		return data, nil
	}
	data := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		switch {
		case v[i] != '\\':
			data = append(data, v[i])
		case i+1 < len(v) && v[i+1] == '\\':
			data = append(data, '\\')
			i++
		case i+3 < len(v):
			b, err := strconv.ParseUint(string(v[i+1:i+4]), 8, 8)
			if err != nil {
				return nil, errors.New("the bytea has a wrong escape")
			}
			data = append(data, byte(b))
			i += 3
		default:
			return nil, errors.New("the bytea has a wrong escape")
		}
	}
	return data, nil
}

// clip returns the beginning of a value, for a message.
func clip(v []byte) []byte { return v[:min(len(v), 40)] }

func readBinary(oid uint32, v []byte) (any, error) {
	k := kindOf(oid)
	if n := int(typeSize(oid)); n > 0 && k != kindText && len(v) != n {
		return nil, newError("22P03", fmt.Sprintf("the binary value has %d bytes, not %d", len(v), n))
	}
	switch k {
	case kindText:
		return readText(OIDText, v)
	case kindBytea:
		return append([]byte{}, v...), nil
	case kindBool:
		return v[0] != 0, nil
	case kindInt2:
		return int64(int16(binary.BigEndian.Uint16(v))), nil
	case kindInt4:
		return int64(int32(binary.BigEndian.Uint32(v))), nil
	case kindOid:
		return int64(binary.BigEndian.Uint32(v)), nil
	case kindInt8:
		return int64(binary.BigEndian.Uint64(v)), nil
	case kindFloat4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(v))), nil
	case kindFloat8:
		return math.Float64frombits(binary.BigEndian.Uint64(v)), nil
	}
	if element := elements[oid]; element != 0 {
		return readArray(v, element)
	}
	switch oid {
	case OIDNumeric:
		return readNumeric(v)
	case OIDUUID:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]), nil
	case OIDDate:
		day := int32(binary.BigEndian.Uint32(v))
		return readTime(int64(day)*24*3600, 0, day == math.MaxInt32 || day == math.MinInt32, "2006-01-02")
	case OIDTimestamp, OIDTimestamptz:
		us := int64(binary.BigEndian.Uint64(v))
		layout := "2006-01-02 15:04:05.999999"
		if oid == OIDTimestamptz {
			layout += "Z07:00"
		}
		// The remainder has the sign of us, and time.Unix takes a negative one.
		return readTime(us/1e6, us%1e6*1000, us == math.MaxInt64 || us == math.MinInt64, layout)
	}
	return nil, &Error{Code: "0A000", Message: fmt.Sprintf("the type with OID %d has no binary form here", oid),
		Hint: "Send the parameter as text."}
}

// readTime writes the text of a time since the beginning of 2000, in UTC.
func readTime(seconds, ns int64, infinite bool, layout string) (any, error) {
	t := time.Unix(946684800+seconds, ns).UTC()
	if infinite || t.Year() < 1 || t.Year() > 9999 {
		return nil, newError("22008", "the time is outside the years 1 to 9999")
	}
	return t.Format(layout), nil
}

// readNumeric writes the digits of a numeric: groups of four, the first with the given weight.
func readNumeric(v []byte) (any, error) {
	malformed := newError("22P03", "the binary numeric is malformed")
	if len(v) < 8 {
		return nil, malformed
	}
	groups := int(binary.BigEndian.Uint16(v))
	weight := int(int16(binary.BigEndian.Uint16(v[2:])))
	sign := binary.BigEndian.Uint16(v[4:])
	scale := int(binary.BigEndian.Uint16(v[6:]))
	switch sign {
	case 0xC000:
		return "NaN", nil
	case 0xD000:
		return "Infinity", nil
	case 0xF000:
		return "-Infinity", nil
	case 0x0000, 0x4000:
	default:
		return nil, malformed
	}
	// The limits are far beyond a number of SQLite.
	if len(v) != 8+2*groups || groups > 500 || weight > 500 || weight < -500 || scale > 2000 {
		return nil, malformed
	}
	digits := new(big.Int)
	for i := range groups {
		group := binary.BigEndian.Uint16(v[8+2*i:])
		if group > 9999 {
			return nil, malformed
		}
		digits.Mul(digits, big.NewInt(10000)).Add(digits, big.NewInt(int64(group)))
	}
	power := weight - groups + 1 // of 10000 that the digits stand for
	value := new(big.Rat).SetInt(digits)
	factor := new(big.Int).Exp(big.NewInt(10000), big.NewInt(int64(max(power, -power))), nil)
	if power < 0 {
		value.Quo(value, new(big.Rat).SetInt(factor))
	} else {
		value.Mul(value, new(big.Rat).SetInt(factor))
	}
	if sign == 0x4000 {
		value.Neg(value)
	}
	return value.FloatString(scale), nil
}
