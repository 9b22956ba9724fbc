package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// toSeal returns a folder with KEY and a database, city.db, with accounts that have spent something.
func toSeal(t *testing.T, rows int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	clitest.Query(t, filepath.Join(dir, "city.db"), fmt.Sprintf(`
		SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh'), geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1),
			budget_limit('*', 'kWh', 5), budget_limit('person-7', 'm', 0.5, 3600);
		CREATE TABLE r(person TEXT, kwh REAL, lat REAL, lon REAL, day INT, paid_for_it REAL, street TEXT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO r SELECT 'person-' || (i %% 50), abs(random() %% 10000) / 1000.0, 48.85, 2.3 + abs(random() %% 1000) / 8000.0, i %% 30, 0, 'street ' || (i %% 50) FROM n;
		UPDATE r SET paid_for_it = round(kwh * 0.27, 2);
		SELECT dx_value(person, kwh, 1, 'halfhour') FROM r WHERE person = 'person-7' LIMIT 2`, rows))
	if r := clitest.Run(t, "", "keygen", filepath.Join(dir, "KEY")); r.Status != 0 {
		t.Fatal(r.Err)
	}
	return dir
}

// sealArgs returns the arguments that seal city.db, after replacing some.
func sealArgs(dir, out string, more ...string) []string {
	args := []string{"seal", filepath.Join(dir, "city.db"), filepath.Join(dir, out), "--key", filepath.Join(dir, "KEY.pub"),
		"--table", "r", "--account", "person", "--seal", "kwh:halfhour", "--seal", "lat,lon:city", "--public", "day"}
	return append(args, more...)
}

// openKeeper returns the keeper of a sealed database.
func openKeeper(t *testing.T, dir, name string) (*catalog.Keeper, *sqlite.Conn, *file.Ledger) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "KEY"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := sealed.ParsePrivateKey(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(filepath.Join(dir, name), sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ledger, err := file.Open(filepath.Join(dir, name+"-ledger"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	keeper, err := catalog.Open(t.Context(), conn, ledger, sealed.NewKeyring(key))
	if err != nil {
		t.Fatal(err)
	}
	return keeper, conn, ledger
}

// opensAll opens every value of table r and returns their number.
func opensAll(t *testing.T, keeper *catalog.Keeper, conn *sqlite.Conn) (values int) {
	t.Helper()
	err := store.Each(conn, func(v []sqlite.Value) {
		for i := range v {
			if v[i].Type() != sqlite.Blob {
				continue
			}
			if _, present, err := keeper.Open(v[i].Bytes()); err != nil || !present {
				t.Fatalf("value %d does not open: %v", values, err)
			}
			values++
		}
	}, "SELECT kwh, location FROM r")
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// Indexes of the plain database are named and not copied; those of public columns can be made, and are used.
func TestSealIndexes(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 300)
	clitest.Query(t, filepath.Join(dir, "city.db"), "CREATE INDEX by_day ON r(day); CREATE INDEX by_kwh ON r(kwh)")
	r := clitest.Run(t, "", sealArgs(dir, "open.db", "--public", "street", "--index", "day,Street", "--index", "person", "--yes")...)
	if r.Status != 0 || !strings.Contains(r.Err, "indexes are not copied (by_day, by_kwh); --index makes indexes of public columns\n") {
		t.Fatalf("%+v", r)
	}
	out := filepath.Join(dir, "open.db")
	if got := clitest.Query(t, "-csv", out, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'r' ORDER BY 1"); got != "name\nr_day_street_idx\nr_person_idx\n" {
		t.Errorf("the indexes are %s", got)
	}
	if got := clitest.Query(t, "-csv", out, "EXPLAIN QUERY PLAN SELECT count(*) FROM r WHERE day = 3 AND street > 'a'"); !strings.Contains(got, "r_day_street_idx") {
		t.Errorf("the index is not used: %s", got)
	}
	for want, column := range map[string]string{"--index kwh: only public columns": "kwh", "--index location: only": "location", "--index paid_for_it: only": "day,paid_for_it", "--index day is given twice": "day"} {
		clitest.WantError(t, clitest.Run(t, "", sealArgs(dir, "other.db", "--again", "--index", "day", "--index", column)...), 1, want)
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 3000)
	before, err := os.ReadFile(filepath.Join(dir, "city.db"))
	if err != nil {
		t.Fatal(err)
	}
	r := clitest.Run(t, "", sealArgs(dir, "open.db")...)
	if r.Status != 0 || r.Out != "" || !strings.HasPrefix(r.Err, "sealed 6000 values of 3000 rows into ") || strings.Count(r.Err, "\n") != 2 ||
		!strings.Contains(r.Err, filepath.Join(dir, "city.db")+" keeps the old one: put ") {
		t.Fatalf("%+v", r)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "city.db")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database that was sealed has changed: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range left {
		if info, err := os.Stat(name); err != nil || forOthers(info) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if len(left) != 6 {
		t.Errorf("the folder has %v", left)
	}
	out := filepath.Join(dir, "open.db")
	if text, err := os.ReadFile(out); err != nil || bytes.Contains(text, []byte("person-17")) || bytes.Contains(text, []byte("paid_for_it")) {
		t.Errorf("the sealed database has the name of an account, or a column that was dropped: %v", err)
	}
	if text, err := os.ReadFile(out + "-ledger"); err != nil || !bytes.Contains(text, []byte("person-7")) || bytes.Contains(text, []byte("person-17")) || bytes.Contains(text, []byte("paid_for_it")) {
		t.Errorf("its ledger has more than the accounts that have spent something: %v", err)
	}
	keeper, conn, ledger := openKeeper(t, dir, "open.db")
	if n := opensAll(t, keeper, conn); n != 6000 {
		t.Errorf("%d values open", n)
	}
	if record := keeper.Record(); len(record.Collectors) != 1 || record.Collectors[0].Name != "seal" || len(record.Columns) != 2 || record.Columns[0].Universe.Unit != "kWh" {
		t.Errorf("%+v", record)
	}
	if id, err := declaration.Ledger(conn); err != nil || id != ledger.ID() {
		t.Errorf("the database holds ledger %s, not %s: %v", id, ledger.ID(), err)
	}
	const balances = `SELECT account, unit, epsilon_limit, spent, remaining, window_seconds FROM ledger_balance`
	if a, b := clitest.Query(t, "-csv", filepath.Join(dir, "city.db"), balances), clitest.Query(t, "-csv", out, balances); a != b || !strings.Contains(a, "person-7,kWh,5,2,3") {
		t.Errorf("balances\n%sbecame\n%s", a, b)
	}
	clitest.Query(t, out, "SELECT * FROM ledger_verify()")
	if sql := clitest.Query(t, "-csv", out, "SELECT sql FROM sqlite_schema WHERE name = 'r'"); !strings.Contains(sql, `(""person"" TEXT, ""kwh"" BLOB, ""location"" BLOB, ""day"" INTEGER)`) {
		t.Error(sql)
	}

	// A second time needs a word.
	again := clitest.Run(t, "", sealArgs(dir, "two.db")...)
	clitest.WantError(t, again, 1, "was sealed before")
	clitest.WantError(t, again, 1, "give --again")
	if _, err := os.Stat(filepath.Join(dir, "two.db")); err == nil {
		t.Error("a second database was written")
	}
	if r := clitest.Run(t, "", sealArgs(dir, "two.db", "--again")...); r.Status != 0 {
		t.Error(r.Err)
	}
	clitest.WantError(t, clitest.Run(t, "", sealArgs(dir, "two.db", "--again")...), 1, "two.db-ledger exists, and nothing is overwritten")
	sealedAgain := sealArgs(dir, "three.db")
	sealedAgain[1] = out
	clitest.WantError(t, clitest.Run(t, "", sealedAgain...), 1, "is sealed already")
}

// A database without a ledger gets one, which notes that it was sealed; if that cannot be, nothing
// is sealed.
func TestSealWithoutLedger(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 10)
	db := filepath.Join(dir, "city.db")
	clitest.Query(t, db, "DROP TABLE geosql_ledger")
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	if store.HasModes && os.Geteuid() != 0 { // root may write all files
		if err := os.Chmod(db, 0o400); err != nil {
			t.Fatal(err)
		}
		r := clitest.Run(t, "", sealArgs(dir, "open.db")...)
		if r.Status != 1 || !strings.Contains(r.Err, "may not be written: it has to hold the id of its ledger") {
			t.Errorf("status %d, %s", r.Status, r.Err)
		}
		if err := os.Chmod(db, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", sealArgs(dir, "open.db", "--public", "nothing")...), 1, "has no column nothing")
	if _, err := os.Stat(db + "-ledger"); err == nil {
		t.Error("a ledger was made although nothing was sealed")
	}
	if r := clitest.Run(t, "", sealArgs(dir, "open.db")...); r.Status != 0 {
		t.Fatal(r.Err)
	}
	clitest.WantError(t, clitest.Run(t, "", sealArgs(dir, "two.db")...), 1, "was sealed before")
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	clitest.WantError(t, clitest.Run(t, "", sealArgs(dir, "two.db", "--again")...), 1, "is missing")
}

func TestSealMistakes(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 1000)
	in, key := filepath.Join(dir, "city.db"), filepath.Join(dir, "KEY.pub")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"IN OUT", 2, "seal: give the key that opens the values: --key KEY.pub"},
		{"IN", 2, "too few arguments"},
		{"IN OUT --key PUB", 2, "seal: give the columns to seal: --table TABLE"},
		{"IN OUT --key KEY --table r --account person --seal kwh:halfhour", 1, "KEY is a private key, for nobody but its owner: give its public half"},
		{"IN OUT --key IN --table r --account person --seal kwh:halfhour", 1, "is not a public key"},
		{"IN OUT --key nowhere --table r --account person --seal kwh:halfhour", 1, "nowhere"},
		{"IN IN --key PUB --table r --account person --seal kwh:halfhour", 1, "nothing is sealed in place"},
		{"IN LEDGER --key PUB --table r --account person --seal kwh:halfhour", 1, "city.db-ledger exists"},
		{"LEDGER OUT --key PUB --table r --account person --seal kwh:halfhour", 1, "is a ledger"},
		{"gone.db OUT --key PUB --table r --account person --seal kwh:halfhour", 1, "gone.db: no such database"},
		{"IN OUT --key PUB --account person --table r --seal kwh:halfhour", 2, "it is about a table: give --table first"},
		{"IN OUT --key PUB --table r --account person --account day --seal kwh:halfhour", 2, "the table has one account column, person"},
		{"IN OUT --key PUB --table r --account person --seal kwh", 2, "it must be like COLUMN:UNIVERSE or LAT,LON:DOMAIN"},
		{"IN OUT --key PUB --table r --account person --public day", 1, "city.db: nothing is sealed"},
		{"IN OUT --key PUB --table t --account person --seal kwh:halfhour", 1, "city.db: there is no table t (tables: r)"},
		{"IN OUT --key PUB --table", 2, "table"},
		{"IN OUT --key PUB --table r --account person --seal kwh:halfhour --public paid_for_it", 1,
			"seal: nothing was written, since public columns tell something of sealed ones (table r: paid_for_it rises with kwh"},
		{"IN OUT --key PUB --table r --account person --seal kwh:halfhour --public street", 1,
			"(table r: street names the account: it has one value for each, so pseudonyms hide nobody): leave them out"},
		{"IN OUT/x/y --key PUB --table r --account person --seal kwh:halfhour", 1, "there is no folder"},
	} {
		text := strings.NewReplacer("LEDGER", in+"-ledger", "IN", in, "OUT", filepath.Join(dir, "out.db"), "PUB", key, "KEY", filepath.Join(dir, "KEY")).Replace(c.args)
		args := append([]string{"seal"}, strings.Fields(text)...)
		r := clitest.Run(t, "", args...)
		clitest.WantError(t, r, c.status, c.want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 4 { // city.db, its ledger, two keys
		t.Errorf("the folder has %v", left)
	}
	clitest.Help(t, "seal", "-h")
}

// The flag -table stands for a form of output elsewhere.
func TestTableFlagHasTwoForms(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 10)
	in := filepath.Join(dir, "city.db")
	want := clitest.Query(t, in, "-table", "SELECT count(*) FROM r")
	for _, args := range [][]string{{"-table", in, "SELECT count(*) FROM r"}, {in, "SELECT count(*) FROM r", "--table"}} {
		if got := clitest.Query(t, args...); got != want {
			t.Errorf("%q prints %s", args, got)
		}
	}
	if r := clitest.Run(t, "", "budget", in, "-table"); r.Status != 0 {
		t.Error(r.Err)
	}
	r := clitest.Run(t, "", "seal", "--table", "r", "--account=person", "--seal=kwh:halfhour", in, "-key", filepath.Join(dir, "KEY.pub"), filepath.Join(dir, "o.db"))
	if r.Status != 0 {
		t.Error(r.Err)
	}
}

// Whatever ends the command, there is a whole sealed database that opens, or none. Only kill -9
// leaves something beside it: a folder that only its owner can look into.
func TestSealIsWholeOrNot(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 100_000)
	whole, none := 0, 0
	for i, delay := range []time.Duration{20, 60, 120, 180, 240, 300, 400, 600, 0} {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[i%3]
		name := fmt.Sprintf("o%d.db", i)
		cmd := clitest.Command(t, sealArgs(dir, name, "--again")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if delay > 0 && clitest.Sends(signal) {
			time.Sleep(delay * time.Millisecond)
			_ = clitest.Signal(cmd.Process, signal)
		}
		status := clitest.ExitStatus(t, cmd.Wait())
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			none++
			if status == 0 {
				t.Errorf("status 0, and no database")
			}
			left, _ := filepath.Glob(filepath.Join(dir, name+"*"))
			if signal != syscall.SIGKILL && len(left) > 0 {
				t.Errorf("%v leaves %v", signal, left)
			}
			for _, path := range left {
				if info, err := os.Stat(path); err != nil || forOthers(info) {
					t.Errorf("others may look into %s: %v", path, err)
				}
			}
			continue
		}
		whole++
		keeper, conn, ledger := openKeeper(t, dir, name)
		if n := opensAll(t, keeper, conn); n != 200_000 {
			t.Errorf("%d values open", n)
		}
		if _, err := ledger.Verify("", nil, nil); err != nil {
			t.Error(err)
		}
	}
	if whole == 0 || none == 0 {
		t.Errorf("%d whole, %d none", whole, none)
	}
}
