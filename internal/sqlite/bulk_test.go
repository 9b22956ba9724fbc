//go:build !geosql_loadable

package sqlite

import (
	"fmt"
	"strings"
	"testing"
)

// Rows that were fetched can be inserted elsewhere, whatever their sizes and types are.
func TestRowsInBulk(t *testing.T) {
	conn := memory(t)
	long := strings.Repeat("x", 5000)
	if err := conn.Exec(`CREATE TABLE a(x, y, z); CREATE TABLE b(x, y, z);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO a SELECT i, i / 7.0, iif(i % 3 = 0, NULL, iif(i % 5 = 0, '` + long + `', zeroblob(i % 4))) FROM n;
		INSERT INTO a VALUES ('', x'', 'a' || char(0) || 'b'), (9223372036854775807, -0.0, 9e999)`); err != nil {
		t.Fatal(err)
	}
	from, _, err := conn.Prepare("SELECT * FROM a")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, _, err := conn.Prepare("INSERT INTO b VALUES (?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	total, calls := 0, 0
	for f, buf := from.Fetch(), []byte(nil); ; calls++ {
		cells, n, err := f.Next(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		if err := to.InsertRows(cells, 3, n); err != nil {
			t.Fatal(err)
		}
		var again []byte
		rest := cells
		for len(rest) > 0 {
			var c Cell
			if c, rest = NextCell(rest); c.Type == Text {
				again = AppendText(again, string(c.Bytes))
			} else if c.Type == Blob {
				again = AppendBlob(again, c.Bytes)
			} else if c.Type == Null {
				again = AppendNull(again)
			} else if c.Type == Integer {
				again = AppendInt(again, c.Int())
			} else {
				again = append(again, cells[len(again):len(again)+9]...)
			}
		}
		if string(again) != string(cells) {
			t.Fatal("cells are not read as they are appended")
		}
		total += n
		buf = cells[:0]
	}
	if total != 1002 || calls < 2 {
		t.Errorf("%d rows in %d calls", total, calls)
	}
	const same = `SELECT count(*) FROM a JOIN b ON a.rowid = b.rowid AND a.x IS b.x AND a.y IS b.y AND a.z IS b.z AND
		typeof(a.x) || typeof(a.y) || typeof(a.z) = typeof(b.x) || typeof(b.y) || typeof(b.z)`
	check, _, err := conn.Prepare(same)
	if err != nil {
		t.Fatal(err)
	}
	defer check.Close()
	if _, err := check.Step(); err != nil {
		t.Fatal(err)
	}
	if n := check.Column(0); n.Int() != 1002 {
		t.Errorf("%d rows are the same", n.Int())
	}
	if err := conn.Exec("CREATE UNIQUE INDEX i ON b(x)"); err != nil {
		t.Fatal(err)
	}
	if err := to.InsertRows(AppendNull(AppendNull(AppendText(nil, ""))), 3, 1); err == nil || !strings.Contains(fmt.Sprint(err), "UNIQUE") {
		t.Errorf("inserting a row twice: %v", err)
	}
}
