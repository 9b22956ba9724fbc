package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// elements are the types of the elements of arrays that have a binary form.
var elements = map[uint32]uint32{
	1000: OIDBool, 1002: OIDChar, 1003: OIDName, 1005: OIDInt2, 1007: OIDInt4, 1009: OIDText, 1015: OIDVarchar, 1016: OIDInt8,
	1021: OIDFloat4, 1022: OIDFloat8, 1028: OIDOid,
}

// appendArray appends the binary form of an array that is written as {1,NULL,"a b"}. It reports false for a text that
// is not one, and for an array of arrays.
func appendArray(buf []byte, text string, element uint32) (_ []byte, ok bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return buf, false
	}
	text = text[1 : len(text)-1]
	start := len(buf)
	buf = append(buf, make([]byte, 12)...)
	binary.BigEndian.PutUint32(buf[start+8:], element)
	if text == "" {
		return buf, true
	}
	binary.BigEndian.PutUint32(buf[start:], 1) // dimension
	buf = append(buf, 0, 0, 0, 0, 0, 0, 0, 1)  // how many, and the number of the first
	count := uint32(0)
	for more := true; more; count++ {
		var value string
		var quoted bool
		if value, quoted, text, more, ok = nextElement(text); !ok {
			return buf, false
		}
		if !quoted && strings.EqualFold(value, "null") {
			buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32)
			buf[start+7] = 1 // there is a NULL
			continue
		}
		at := len(buf) + 4
		if buf, ok = appendElement(append(buf, 0, 0, 0, 0), value, element); !ok {
			return buf, false
		}
		binary.BigEndian.PutUint32(buf[at-4:], uint32(len(buf)-at))
	}
	binary.BigEndian.PutUint32(buf[start+12:], count)
	return buf, true
}

// nextElement returns the first element of a list, and whether another one follows in the rest.
func nextElement(text string) (value string, quoted bool, rest string, more, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, more = strings.Cut(text, ",")
		return value, false, rest, more, value != "" && !strings.ContainsAny(value, `{}"\`)
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			rest, more = strings.CutPrefix(text[i+1:], ",")
			return b.String(), true, rest, more, more || rest == ""
		default:
			b.WriteByte(text[i])
		}
	}
	return "", true, "", false, false
}

// appendElement appends the binary form of an element.
func appendElement(buf []byte, value string, oid uint32) ([]byte, bool) {
	switch k := kindOf(oid); k {
	case kindText:
		return append(buf, value...), true
	case kindBool:
		switch value {
		case "t", "true", "1":
			return append(buf, 1), true
		case "f", "false", "0":
			return append(buf, 0), true
		}
		return buf, false
	case kindFloat4, kindFloat8:
		f, err := strconv.ParseFloat(value, 64)
		return appendBits(buf, k, f), err == nil
	default:
		n, err := strconv.ParseInt(value, 10, 64)
		return appendInt(buf, k, n), err == nil && k.fits(n)
	}
}

// readArray writes the text of an array that came in binary. Its elements are read as parameters are.
func readArray(v []byte, element uint32) (any, error) {
	malformed := newError("22P03", "an array is malformed")
	if len(v) < 12 {
		return nil, malformed
	}
	dimensions, of := binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[8:])
	switch {
	case of != element:
		return nil, newError("42804", fmt.Sprintf("an array has elements of the type with OID %d, not %d", of, element))
	case dimensions == 0 && len(v) == 12:
		return "{}", nil
	case dimensions != 1:
		return nil, &Error{Code: "0A000", Message: "arrays of arrays have no binary form here", Hint: "Send the parameter as text."}
	case len(v) < 20:
		return nil, malformed
	}
	count := binary.BigEndian.Uint32(v[12:])
	v = v[20:]
	var text strings.Builder
	for i := range count {
		if i > 0 {
			text.WriteByte(',')
		}
		if len(v) < 4 {
			return nil, malformed
		}
		n := binary.BigEndian.Uint32(v)
		if v = v[4:]; n == math.MaxUint32 {
			text.WriteString("NULL")
			continue
		}
		if uint64(n) > uint64(len(v)) {
			return nil, malformed
		}
		value, err := readBinary(element, v[:n])
		if err != nil {
			return nil, err
		}
		v = v[n:]
		switch value := value.(type) {
		case string:
			text.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`)
		case float64:
			text.WriteString(strconv.FormatFloat(value, 'g', -1, 64))
		default:
			fmt.Fprint(&text, value)
		}
	}
	if len(v) != 0 {
		return nil, malformed
	}
	return "{" + text.String() + "}", nil
}
