package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// pgx reads the arrays that are written in binary.
func TestArrays(t *testing.T) {
	types := pgtype.NewMap()
	for _, c := range []struct {
		oid, element uint32
		text         string
		want         string // as pgx writes it, or empty for an error
	}{
		{1005, OIDInt2, "{1,-2,NULL}", "{1,-2,NULL}"},
		{1007, OIDInt4, "{}", "{}"},
		{1016, OIDInt8, "{9223372036854775807}", "{9223372036854775807}"},
		{1022, OIDFloat8, "{0.5,-3}", "{0.5,-3}"},
		{1000, OIDBool, "{t,f,true,0}", "{t,f,t,f}"},
		{1009, OIDText, `{a,"b,\"c\\","",NULL,"NULL",ä}`, `{a,"b,\"c\\","",NULL,"NULL",ä}`},
		{1009, OIDText, `{a,{b}}`, ""},
		{1009, OIDText, `{a,}`, ""},
		{1009, OIDText, `{"a"b}`, ""},
		{1009, OIDText, `{"a`, ""},
		{1009, OIDText, `a`, ""},
		{1005, OIDInt2, "{40000}", ""},
		{1016, OIDInt8, "{x}", ""},
		{1000, OIDBool, "{x}", ""},
	} {
		b, ok := appendArray(nil, c.text, c.element)
		if !ok {
			if c.want != "" {
				t.Errorf("%s has no binary form", c.text)
			}
			continue
		}
		if again, err := readArray(b, c.element); err != nil {
			t.Error(c.text, err)
		} else if b2, ok := appendArray(nil, again.(string), c.element); !ok || string(b2) != string(b) {
			t.Errorf("%s is read as %s", c.text, again)
		}
		ty, _ := types.TypeForOID(c.oid)
		v, err := ty.Codec.DecodeValue(types, c.oid, pgtype.BinaryFormatCode, b)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := types.Encode(c.oid, pgtype.TextFormatCode, v, nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%s is read as %s, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// Whatever a client sends as an array is read or refused.
func FuzzArray(f *testing.F) {
	for _, text := range []string{"{}", "{1,NULL,-2}"} {
		b, _ := appendArray(nil, text, OIDInt8)
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for oid, element := range elements {
			v, err := readArray(b, element)
			if err != nil {
				continue
			}
			if _, ok := appendArray(nil, v.(string), element); !ok {
				t.Errorf("%d: %q is not an array", oid, v)
			}
		}
	})
}
