package sqlitefn_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/internal/trials"
)

// tutorials are statements as readers of SQL tutorials write them, over three kinds of data. Of each, testdata/tutorial has the
// tables, rows of our own making, and the statements with their costs; data are the rows of a real data set.
var tutorials = []struct {
	name, file string
	table      string
	columns    []string
	rows       int    // of the file that are used
	each       int    // every how manieth
	until      string // a value of the second column, before which rows are used; "" for all
}{
	{"meters", "meters_sgsc/readings.csv.gz", "readings", []string{"meter", "t_local", "kwh"}, 2500, 1, "2013-01-09"},
	{"census", "lodes_dc/od.csv.gz", "od", []string{"home_block", "work_block", "jobs"}, 300, 1, ""},
	{"checkins", "gowalla/checkins_nyc.csv.gz", "checkins", []string{"user", "t_utc", "lat", "lon", "loc"}, 400, 50, ""},
}

// Every statement costs as much as the comment before it says:
//
//	0.1 kwh             to each account that is charged, whatever number of groups it is in
//	SELECT ..           accounts, units and amounts
//	one by one [: WHY]  groups are charged one by one, and budget_cost says why and which form costs less
//	uncertain           released values decide the charges, so that the command refuses it
//
// A statement behind one of the last two kinds is often another form of it, which costs once.
func TestTutorials(t *testing.T) {
	t.Parallel()
	for _, kind := range tutorials {
		t.Run(kind.name, func(t *testing.T) {
			t.Run("made", func(t *testing.T) {
				d := open(t, ":memory:")
				d.tutorial(kind.name, func() { d.script(tutorialFile(t, kind.name+".made.sql")) })
			})
			t.Run("real", func(t *testing.T) {
				trials.Rarely(t, 3)
				rows := realRows(t, kind.file, kind.columns, kind.rows, kind.each, kind.until)
				d := open(t, ":memory:")
				d.tutorial(kind.name, func() {
					for chunk := range slices.Chunk(rows, 500) {
						d.run("INSERT INTO " + kind.table + " VALUES " + strings.Join(chunk, ", "))
					}
				})
			})
		})
	}
}

func tutorialFile(t testing.TB, name string) string {
	b, err := os.ReadFile(filepath.Join("testdata", "tutorial", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// realRows returns rows of a file of the real data sets as lists of SQL.
func realRows(t *testing.T, name string, columns []string, rows, each int, until string) (list []string) {
	f, err := os.Open(need.Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	head, err := r.Read()
	for n := 0; err == nil && len(list) < rows; n++ {
		var row []string
		if row, err = r.Read(); err != nil || n%each != 0 {
			continue
		}
		var values []string
		for _, c := range columns {
			values = append(values, "'"+row[slices.Index(head, c)]+"'")
		}
		if until == "" || row[slices.Index(head, columns[1])] < until {
			list = append(list, "("+strings.Join(values, ", ")+")")
		}
	}
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return list
}

// script runs the statements of a text.
func (d *database) script(text string) {
	d.Helper()
	for {
		_, s, rest := sqltext.SQLite.Split(text, sqltext.Budget{})
		if s.SQL == "" {
			return
		}
		d.run(s.SQL)
		text = rest
	}
}

// tutorial makes the tables of a kind of data, and runs its statements.
func (d *database) tutorial(name string, fill func()) {
	before, after, _ := strings.Cut(tutorialFile(d, name+".tables.sql"), "-- rows\n")
	d.script(before)
	fill()
	d.script(after)
	for entry := range strings.SplitSeq(tutorialFile(d, name+".sql"), "\n\n") {
		var said []string
		lines := strings.Split(strings.TrimSpace(entry), "\n")
		for strings.HasPrefix(lines[0], "-- ") {
			said = append(said, strings.TrimPrefix(lines[0], "-- "))
			lines = lines[1:]
		}
		statement := strings.TrimSuffix(strings.Join(lines, "\n"), ";")
		if err := d.costs(statement, said); err != nil {
			d.Errorf("%s\n%v", statement, err)
		}
	}
}

// costs checks what is said about the cost of a statement.
func (d *database) costs(statement string, said []string) error {
	foretold := d.cost(statement)
	rules := fmt.Sprint(d.rows(`SELECT DISTINCT rule FROM budget_cost(?)`, statement))
	uncertain := slices.Contains(said, "uncertain")
	why, separate := "once per group: ", false
	for _, s := range said {
		if after, is := strings.CutPrefix(s, "one by one"); is {
			why, separate = strings.TrimPrefix(after, ": "), true
		}
	}
	switch {
	case foretold.proved() == uncertain:
		return fmt.Errorf("certain: %v", foretold.proved())
	case strings.Contains(rules, "once per group: ") != separate || separate && (!strings.Contains(rules, why) || !strings.Contains(rules, "; ")):
		return fmt.Errorf("rule %s, want %q", rules, said)
	}
	charged := map[who]float64{} // by account and unit
	really := d.really(statement)
	for w, c := range really {
		charged[who{account: w.account, unit: w.unit}] += c.epsilon
	}
	if err := foretold.contradicts(really); err != nil {
		return err
	}
	for _, s := range said {
		if err := d.paid(s, charged); err != nil {
			return err
		}
	}
	return nil
}

// paid compares charges by account with their description.
func (d *database) paid(said string, charged map[who]float64) error {
	want := map[who]float64{}
	if eps, unit, is := strings.Cut(said, " "); strings.HasPrefix(said, "SELECT") {
		for _, row := range d.rows(said) {
			want[who{account: fmt.Sprint(row[0]), unit: row[1].(string)}] = row[2].(float64)
		}
	} else if each, err := strconv.ParseFloat(eps, 64); is && err == nil {
		for w := range charged {
			want[who{account: w.account, unit: unit}] = each
		}
	} else {
		return nil
	}
	if len(want) == 0 || !maps.EqualFunc(charged, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		return fmt.Errorf("charged %v, want %v", charged, want)
	}
	return nil
}
