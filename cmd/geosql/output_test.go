package main

import (
	"bufio"
	"bytes"
	"cmp"
	stdcsv "encoding/csv"
	stdjson "encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
)

// memory is a statement that returns two parameters.
func memory(t testing.TB) *sqlite.Stmt {
	t.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	stmt, _, err := conn.Prepare("SELECT ? AS a, ? AS b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stmt.Close(); conn.Close() })
	return stmt
}

// written is what a mode makes of the row of stmt.
func written(t interface{ Fatal(...any) }, stmt *sqlite.Stmt, m mode) string {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	rows := newRowWriter(m, w, look{})
	err := rows.begin([]string{"a", "b"})
	cells := make([]sqlite.Value, 2)
	for err == nil {
		var more bool
		if more, err = stmt.Step(); !more {
			break
		}
		stmt.Row(0, cells)
		err = cmp.Or(err, rows.row(cells))
	}
	if err = cmp.Or(err, rows.end(true), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// anyText draws a text that SQLite keeps, with what CSV and JSON must escape.
var anyText = rapid.StringOf(rapid.OneOf(
	rapid.SampledFrom([]rune{',', '"', '\n', '\r', '\t', ';', ' ', '\\', 0x1b, 0x7f, 0x2028, 'é', 'a', '1'}),
	rapid.Rune()))

// A text written as CSV is the text that another reader reads. The reader of the
// standard library turns CR LF into LF.
func TestCSVRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText.Draw(t, "a"), anyText.Draw(t, "b")
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		rows, err := stdcsv.NewReader(strings.NewReader(written(t, stmt, csvMode))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		crlf := strings.NewReplacer("\r\n", "\n")
		if len(rows) != 2 || rows[1][0] != crlf.Replace(a) || rows[1][1] != crlf.Replace(b) {
			t.Fatalf("wrote %q, %q, read %q", a, b, rows)
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a := anyText.Draw(t, "a")
		b := string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		var rows []map[string]string
		if err := stdjson.Unmarshal([]byte(written(t, stmt, jsonMode)), &rows); err != nil {
			t.Fatal(err)
		}
		valid := string([]rune(b)) // each wrong byte becomes U+FFFD
		if len(rows) != 1 || rows[0]["a"] != a || rows[0]["b"] != valid {
			t.Fatalf("wrote %q, %q, read %q", a, b, rows)
		}
	})
}

// Numbers have no exponent and read back as what they were.
func TestNumbersRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		i, f := rapid.Int64().Draw(t, "i"), rapid.Float64().Draw(t, "f")
		stmt.BindInts(1, i)
		stmt.BindFloat(2, f)
		fields := strings.Split(strings.Split(written(t, stmt, csvMode), "\n")[1], ",")
		if fields[0] != strconv.FormatInt(i, 10) {
			t.Fatalf("%d is written %s", i, fields[0])
		}
		if got, err := strconv.ParseFloat(fields[1], 64); err != nil || got != f || strings.ContainsAny(fields[1], "eE") {
			t.Fatalf("%g is written %s", f, fields[1])
		}
	})
	stmt.BindFloat(1, math.Inf(-1))
	stmt.BindFloat(2, math.Copysign(0, -1))
	if got := written(t, stmt, csvMode); got != "a,b\n-Inf,0\n" {
		t.Errorf("-Inf and -0 are written %q", got)
	}
}

// Whatever a text holds, a table gives its row one line, steers no terminal and starts the second column where the head
// has it.
func TestTableLines(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(rapid.SliceOf(rapid.Byte()).Draw(t, "a")), "x"+anyText.Draw(t, "b")
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		out := written(t, stmt, tableMode)
		lines := strings.Split(out, "\n")
		if len(lines) != 4 || !utf8.ValidString(out) || strings.ContainsFunc(strings.Join(lines, ""), unicode.IsControl) {
			t.Fatalf("table %q", out)
		}
		at := strings.LastIndex(lines[1], " ") + 1 // the rule is ASCII
		if row := []rune(lines[2]); lines[0][at] != 'b' || row[at] != 'x' {
			t.Fatalf("table %q", out)
		}
	})
}

func BenchmarkRow(b *testing.B) {
	for name, m := range modes {
		b.Run(name, func(b *testing.B) {
			stmt := memory(b)
			stmt.BindText(1, "20081024041230")
			stmt.BindFloat(2, 116.321337)
			if _, err := stmt.Step(); err != nil {
				b.Fatal(err)
			}
			w := newRowWriter(m, bufio.NewWriter(discard{}), look{})
			cells := []sqlite.Value{stmt.Column(0), stmt.Column(1)}
			if err := w.begin([]string{"trace", "lon"}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.row(cells); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Every answer is a FeatureCollection. The geometry is made of the columns that locate a row,
// and nothing that locates none is lost.
func TestGeoJSON(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT 1.5 AS lat, 2 AS lon, 'a"b' AS name`:                       `{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1.5]},"properties":{"name":"a\"b"}}`,
		`SELECT 7 AS n, 1 AS Latitude, -2.25 AS lng`:                       `{"type":"Feature","geometry":{"type":"Point","coordinates":[-2.25,1]},"properties":{"n":7}}`,
		`SELECT 'POINT(3 4)' AS at, 5 AS n`:                                `{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"n":5}}`,
		`SELECT 1 AS lat, 2 AS lon, 'POINT(2 1)' AS wkt`:                   `{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"wkt":"POINT(2 1)"}}`,
		`SELECT NULL AS lat, NULL AS lon, 1 AS n`:                          `{"type":"Feature","geometry":null,"properties":{"n":1}}`,
		`SELECT 'here' AS lat, 2 AS lon`:                                   `{"type":"Feature","geometry":null,"properties":{"lat":"here","lon":2}}`,
		`SELECT 91 AS lat, 2 AS lon`:                                       `{"type":"Feature","geometry":null,"properties":{"lat":91,"lon":2}}`,
		`SELECT 1 AS lat, 'f(x)' AS f, NULL AS z`:                          `{"type":"Feature","geometry":null,"properties":{"lat":1,"f":"f(x)","z":null}}`,
		`SELECT 'POINT(nan 1)' AS w`:                                       `{"type":"Feature","geometry":null,"properties":{"w":"POINT(nan 1)"}}`,
		`SELECT 'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))' AS w`: `{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[0,0],[1,1]]}]},"properties":{}}`,
		`SELECT 'POLYGON((0 0, 1 0, 1 1, 0 0))' AS w, 2 n`:                 `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"properties":{"n":2}}`,
	} {
		got := clitest.Query(t, "-geojson", ":memory:", sql)
		if got != `{"type":"FeatureCollection","features":[`+"\n"+want+"]}\n" || !stdjson.Valid([]byte(got)) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	two := clitest.Query(t, "-geojson", ":memory:", "SELECT NULL AS w, 1 AS n UNION ALL SELECT 'POINT(1 2)', 2 UNION ALL SELECT NULL, 3; SELECT 1 WHERE 0")
	if want := `{"type":"FeatureCollection","features":[
{"type":"Feature","geometry":null,"properties":{"w":null,"n":1}},
{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"n":2}},
{"type":"Feature","geometry":null,"properties":{"n":3}}]}
{"type":"FeatureCollection","features":[]}
`; two != want {
		t.Errorf("%s", two)
	}
}
