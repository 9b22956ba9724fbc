package output

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

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/printable/drawtest"
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

// written is the output of a mode for the row of stmt.
func written(t interface{ Fatal(...any) }, stmt *sqlite.Stmt, m Mode) string {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	rows := New(m, w, Look{})
	err := rows.Begin([]string{"a", "b"})
	cells := make([]sqlite.Value, 2)
	for err == nil {
		var more bool
		if more, err = stmt.Step(); !more {
			break
		}
		stmt.Row(0, cells)
		err = cmp.Or(err, rows.Row(cells))
	}
	if err = cmp.Or(err, rows.End(true), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A text written as CSV is the text that another reader reads. The reader of the
// standard library turns CR LF into LF.
func TestCSVRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawtest.Text.Draw(t, "a"), drawtest.Text.Draw(t, "b")
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		rows, err := stdcsv.NewReader(strings.NewReader(written(t, stmt, CSV))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		crlf := strings.NewReplacer("\r\n", "\n")
		if len(rows) != 2 || rows[1][0] != crlf.Replace(a) || rows[1][1] != crlf.Replace(b) {
			t.Fatalf("wrote %q, %q, read %q", a, b, rows)
		}
	})
}

// A cell stays in its frame, whatever is in it.
func TestFrames(t *testing.T) {
	stmt := memory(t)
	for mode, want := range map[Mode]string{
		Table:    "a       b\n------  -\nx|y\\nz  7\n",
		Box:      "┌────────┬───┐\n│ a      │ b │\n├────────┼───┤\n│ x|y\\nz │ 7 │\n└────────┴───┘\n",
		Markdown: "| a       | b |\n|---------|--:|\n| x\\|y\\nz | 7 |\n",
		List:     "x|y\\nz|7\n",
	} {
		stmt.BindText(1, "x|y\nz")
		stmt.BindInts(2, 7)
		if got := written(t, stmt, mode); got != want {
			t.Errorf("%s writes %q, want %q", mode, got, want)
		}
		stmt.Reset()
	}
}

func TestJSONRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a := drawtest.Text.Draw(t, "a")
		b := string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		var rows []map[string]string
		if err := stdjson.Unmarshal([]byte(written(t, stmt, JSON)), &rows); err != nil {
			t.Fatal(err)
		}
		valid := string([]rune(b)) // each wrong byte becomes U+FFFD
		if len(rows) != 1 || rows[0]["a"] != a || rows[0]["b"] != valid {
			t.Fatalf("wrote %q, %q, read %q", a, b, rows)
		}
	})
}

// Numbers have no exponent and read back as they were.
func TestNumbersRoundTrip(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		i, f := rapid.Int64().Draw(t, "i"), rapid.Float64().Draw(t, "f")
		stmt.BindInts(1, i)
		stmt.BindFloat(2, f)
		fields := strings.Split(strings.Split(written(t, stmt, CSV), "\n")[1], ",")
		if fields[0] != strconv.FormatInt(i, 10) {
			t.Fatalf("%d is written %s", i, fields[0])
		}
		if got, err := strconv.ParseFloat(fields[1], 64); err != nil || got != f || strings.ContainsAny(fields[1], "eE") {
			t.Fatalf("%g is written %s", f, fields[1])
		}
	})
	stmt.BindFloat(1, math.Inf(-1))
	stmt.BindFloat(2, math.Copysign(0, -1))
	if got := written(t, stmt, CSV); got != "a,b\n-Inf,0\n" {
		t.Errorf("-Inf and -0 are written %q", got)
	}
}

// Whatever a text holds, a table gives its row one line, steers no terminal and starts the second column where the head
// has it.
func TestTableLines(t *testing.T) {
	stmt := memory(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(rapid.SliceOf(rapid.Byte()).Draw(t, "a")), "x"+drawtest.Text.Draw(t, "b")
		stmt.BindText(1, a)
		stmt.BindText(2, b)
		out := written(t, stmt, Table)
		lines := strings.Split(out, "\n")
		if len(lines) != 4 || !utf8.ValidString(out) || strings.ContainsFunc(strings.Join(lines, ""), unicode.IsControl) {
			t.Fatalf("table %q", out)
		}
		at := strings.LastIndex(lines[1], " ") + 1 // the rule is ASCII
		var parts []string
		for part := range strings.SplitSeq(a, "\n") {
			parts = append(parts, printable.Text(part))
		}
		first := strings.Join(parts, `\n`)
		second := strings.TrimLeft(strings.TrimPrefix(lines[2], first), " ")
		blanks := len(lines[2]) - len(first) - len(second)
		if lines[0][at] != 'b' || second[0] != 'x' || cli.Width(first)+blanks != at {
			t.Fatalf("table %q", out)
		}
	})
}

// A table has an interval behind each answer, and its columns line up. Other formats have plain numbers.
func TestTableShowsIntervals(t *testing.T) {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	released := func(number float64) interval.Interval {
		return map[float64]interval.Interval{2: {Times: 1, Radius: 6}, 31.25: {Times: 1, Radius: 0.0625}, 4: {Times: 2, Radius: 16, Ranks: true}}[number]
	}
	const rows = "SELECT 'a' AS name, 2 AS n, 31.25 AS x UNION ALL SELECT 2, NULL, 4 UNION ALL SELECT '\u00e9', 4, 7"
	for _, c := range []struct {
		mode Mode
		sql  string
		want string
	}{
		{Table, rows + " LIMIT 2", "name      n               x\n----  -----  --------------\na     2 ± 6  31.25 ± 0.0625\n   2   NULL    4 ± 16 ranks\n"},
		{Table, rows, "name             n      x\n----  ------------  -----\na            2 ± 6  31.25\n   2          NULL      4\n\u00e9     4 ± 16 ranks      7\n"},
		{Line, rows + " LIMIT 1", "name = a\n   n = 2\n   x = 31.25\n"},
		{CSV, rows + " LIMIT 1", "name,n,x\na,2,31.25\n"},
	} {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		intervals := &Intervals{Of: released}
		table := New(c.mode, w, Look{Null: "NULL", Intervals: intervals})
		stmt, _, err := conn.Prepare(c.sql)
		err = cmp.Or(err, table.Begin([]string{"name", "n", "x"}))
		cells := make([]sqlite.Value, 3)
		for err == nil {
			var more bool
			if more, err = stmt.Step(); !more {
				break
			}
			stmt.Row(0, cells)
			err = cmp.Or(err, table.Row(cells))
		}
		stmt.Close()
		if err = cmp.Or(err, table.End(true), w.Flush()); err != nil || out.String() != c.want || intervals.Shown != (c.mode == Table) {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), c.want)
		}
	}
}

// Columns line up behind wide characters and behind combining ones.
func TestWideCharacters(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	for _, m := range []Mode{Table, Line} {
		rows := New(m, w, Look{})
		err := rows.Begin([]string{"氏名", "b"})
		for _, name := range []string{"山田太郎", "Zoe\u0308", "ana", "한국"} {
			err = cmp.Or(err, rows.Row([]sqlite.Value{text(t, name), text(t, "x")}))
		}
		if err = cmp.Or(err, rows.End(true)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	const want = "氏名      b\n--------  -\n山田太郎  x\nZoe\u0308       x\nana       x\n한국      x\n" +
		"氏名 = 山田太郎\n   b = x\n\n氏名 = Zoe\u0308\n   b = x\n\n氏名 = ana\n   b = x\n\n氏名 = 한국\n   b = x\n"
	if got := out.String(); got != want {
		t.Errorf("the output is\n%s\nwant\n%s", got, want)
	}
}

// text is a value that a statement returns.
func text(t *testing.T, s string) sqlite.Value {
	stmt := memory(t)
	stmt.BindText(1, s)
	if _, err := stmt.Step(); err != nil {
		t.Fatal(err)
	}
	return stmt.Column(0)
}

func BenchmarkRow(b *testing.B) {
	for name, m := range Modes {
		b.Run(name, func(b *testing.B) {
			stmt := memory(b)
			stmt.BindText(1, "20081024041230")
			stmt.BindFloat(2, 116.321337)
			if _, err := stmt.Step(); err != nil {
				b.Fatal(err)
			}
			w := New(m, bufio.NewWriter(discard{}), Look{})
			cells := []sqlite.Value{stmt.Column(0), stmt.Column(1)}
			if err := w.Begin([]string{"trace", "lon"}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Row(cells); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
