package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A sealed column that is read bare is no data, and the client is told once.
func TestSealed(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.answers("SELECT id, kwh, place FROM reading WHERE id < 3", "1|bytes sealed|bytes sealed\n2|bytes sealed|bytes sealed")
	c.answers("SELECT dx_narrow(kwh, 1, 2) AS x FROM reading WHERE id = 1", "bytes sealed")
	c.answers("SELECT kwh FROM recent LIMIT 1", "bytes sealed")
	c.answers("SELECT * FROM (SELECT kwh FROM reading LIMIT 1)", "bytes sealed")
	c.answers("SELECT dx_person(kwh, 1, 2) AS x, dx_person(dx_narrow(kwh, 1, 2), 1, 2) FROM reading WHERE id = 1", "bytes sealed|bytes sealed")
	if len(c.notices) != 5 || c.notices[0] != "NOTICE: kwh is sealed: ask with a private function, such as dx_sum(kwh, 0.1)" {
		t.Errorf("notices %q", c.notices)
	}
	c.answers("SELECT dx_sum(kwh, 0.1), dx_count(kwh, 0.1), count(kwh), count(*) FROM reading", "280|5|5|5")
	c.answers("SELECT id, dx_value(kwh, 0.1) FROM reading WHERE id > 3", "4|56\n5|56")
	if s.remote.finals != 2 || s.remote.calls != 2 {
		t.Errorf("%d groups and %d calls", s.remote.finals, s.remote.calls)
	}
	c.fails("SELECT * FROM answers", "42501 unsafe use of dx_sum()")
	c.answers("SELECT home, dx_avg(kwh, 1) FROM recent GROUP BY home ORDER BY home", "ana|112\nbo|56\ncy|112")
}

// Only fetching a row asks the remote.
func TestOnlyRowsCharge(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	d, err := c.Prepare(context.Background(), "p", "SELECT dx_sum(kwh, $1) FROM reading WHERE home = $2")
	if err != nil || s.remote.groups != 0 || !slices.Equal(d.ParamOIDs, []uint32{701, 25}) || d.Fields[0].DataTypeOID != 701 {
		t.Errorf("%v %v, %d groups", d, err, s.remote.groups)
	}
	c.answers("p", "112", 0.5, "ana")
	if s.remote.finals != 1 {
		t.Errorf("%d answers", s.remote.finals)
	}
	c.answers("BEGIN", "")
	c.answers("DECLARE c CURSOR FOR SELECT dx_sum(kwh, 1) FROM reading", "")
	if s.remote.finals != 1 {
		t.Errorf("%d answers after DECLARE", s.remote.finals)
	}
	c.answers("FETCH c", "280")
	c.answers("COMMIT", "")
	c.answers("EXPLAIN SELECT dx_sum(kwh, 1) FROM reading", "SCAN reading")
	if s.remote.finals != 2 {
		t.Errorf("%d answers after EXPLAIN", s.remote.finals)
	}
}

// Built-in aggregates over sealed columns are errors that name the cure, or private.
func TestMisuse(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	_, err := c.Exec(context.Background(), "SELECT home, sum(kwh) FROM reading GROUP BY home")
	var e *pgconn.PgError
	if e, _ = err.(*pgconn.PgError); e == nil || e.Code != "42804" || e.Message != "sum over the sealed column reading.kwh would be a wrong number" ||
		e.Hint != "Write dx_sum(kwh, epsilon), or SET geosql.epsilon = 0.1 and ask as you did." {
		t.Errorf("%#v", err)
	}
	c.fails("SELECT abs(kwh) FROM reading", "42804")
	c.fails("SELECT id FROM reading WHERE kwh > 3", "42804")
	c.fails("SELECT id FROM reading ORDER BY kwh", "42804")
	c.fails("SELECT kwh + 1 FROM reading", "42804")
	c.answers("SET geosql.epsilon = 0.1", "")
	c.answers("SHOW geosql.epsilon", "0.1")
	c.answers("SELECT home, sum(kwh), avg(r.kwh), max(kwh) FROM reading r GROUP BY home ORDER BY home", "ana|112|112|112\nbo|56|56|56\ncy|112|112|112")
	c.answers("SELECT home, sum(dx_person(kwh, 0, 20)) FROM reading GROUP BY home ORDER BY home", "ana|146\nbo|73\ncy|146")
	c.answers("SELECT sum(temperature) FROM reading", "12.5")
	d, err := c.Prepare(context.Background(), "", "SELECT min(place_kwh), avg(place_kwh) AS a FROM other")
	if err != nil || d.Fields[0].Name != "min" || d.Fields[0].DataTypeOID != 701 || d.Fields[1].Name != "a" || d.Fields[1].DataTypeOID != 701 {
		t.Errorf("%+v %v", d, err)
	}
	c.answers("SELECT min(place_kwh) FROM other", "NULL")
	c.fails("SELECT abs(kwh) FROM reading", "42804")
	c.fails("SELECT id FROM reading WHERE kwh > 3", "42804")
	c.answers("SET geosql.epsilon TO off", "")
	c.fails("SELECT sum(kwh) FROM reading", "42804")
	for _, v := range []string{"0", "-1", "x", "'0.1; DROP'", "NaN", "Infinity", "'1e99999999'"} {
		c.fails("SET geosql.epsilon = "+v, "22023")
	}
	c.fails("SET geosql.max_repeat = 2", "42704")
	other := s.connect("options='-c geosql.epsilon=0.5'")
	other.answers("SELECT sum(kwh) FROM reading", "280")
	if s.remote.calls != 0 {
		t.Errorf("%d calls", s.remote.calls)
	}
}

// Statements of tools of PostgreSQL have PostgreSQL's types, answers over sealed columns too, and names the private form.
func TestTools(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	const timestamp, interval = 1114, 1186
	for sql, want := range map[string][]uint32{
		"SELECT date_trunc('day', hour) - interval '1 day', age(hour, now()), interval '1 day', now() - hour AS d FROM reading": {timestamp, interval, interval, interval},
		"SELECT t FROM generate_series(now(), now(), '1 day') AS t":                                                             {25}, "SELECT greatest(1, 2), greatest('a', home), stddev(temperature) FROM reading": {20, 25, 701},
		"SELECT to_char(now(), 'YYYY'), to_timestamp(0), hour AT TIME ZONE 'UTC', width_bucket(1, 0, 2, 2) FROM reading": {25, 1184, timestamp, 23},
		"SELECT DISTINCT ON (home) home, id AS n, temperature FROM reading ORDER BY home, id":                            {25, 20, 701},
	} {
		c.wantTypes(sql, want)
	}
	c.answers("SELECT home, dx_sum(kwh, 0.1) FROM reading WHERE now() - interval '7 days' < '9999-01-01' GROUP BY home ORDER BY home", "ana|112\nbo|56\ncy|112")
	// The time is the same throughout a statement, so that it does not make the cost uncertain.
	session, err := NewSession(Config{Path: newFile(t), Database: "homes", User: "ann"}, nil, s.remote)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, sql := range []string{"now() - interval '7 days'", "current_date - interval '1 month'", "localtimestamp", "date_trunc('month', current_timestamp)"} {
		sql = "SELECT dx_sum(kwh, 0.1) FROM reading WHERE hour > " + sql + " GROUP BY to_char(hour, 'YYYY-MM')"
		st, _, err := session.Prepare(context.Background(), sql, nil)
		if err != nil {
			t.Fatal(sql, err)
		}
		if q := st.(*query).questions; !q.Several || q.Uncertain {
			t.Errorf("%s: %+v", sql, q)
		}
		st.Close()
	}
	for sql, hint := range map[string]string{
		"SELECT stddev(kwh) FROM reading":                                      "Write dx_stddev(kwh, epsilon).",
		"SELECT var_samp(kwh) FROM reading":                                    "Write dx_variance(kwh, epsilon).",
		"SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY kwh) FROM reading": "Write dx_percentile(kwh, p, epsilon).",
		"SELECT greatest(kwh, 1) FROM reading":                                 "Compute with a private answer, such as dx_sum(kwh, epsilon).",
		"SELECT to_char(kwh, '9') FROM reading":                                "Compute with a private answer, such as dx_sum(kwh, epsilon).",
		"SELECT DISTINCT ON (kwh) home FROM reading":                           "Order and group by a public column, or by a private answer; count with dx_histogram(kwh, epsilon, bins).",
	} {
		_, err := c.Exec(context.Background(), sql)
		if e, _ := err.(*pgconn.PgError); e == nil || e.Code != "42804" || e.Hint != hint {
			t.Errorf("%s: %#v", sql, err)
		}
	}
}

// A function that is not there is refused with a cure.
func TestInstead(t *testing.T) {
	c := serve(t, Config{}).connect()
	for sql, hint := range map[string]string{
		"SELECT make_interval(7)": "The dialect is SQLite's: write interval '7 days'.", "SELECT chr(65)": "The dialect is SQLite's: write char(x).",
		"SELECT unheard_of(7)": "The dialect is SQLite's: it has no function of that name and number of arguments.",
	} {
		_, err := c.Exec(context.Background(), sql)
		if e, _ := err.(*pgconn.PgError); e == nil || e.Code != "42883" || e.Hint != hint {
			t.Errorf("%s: %#v", sql, err)
		}
	}
}

// Errors of the remote come through whole.
func TestRemoteError(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	s.remote.err = newError("53400", "account 'x' has 0.1/kWh left")
	for _, sql := range []string{"SELECT dx_sum(kwh, 1) FROM reading", "SELECT dx_value(kwh, 1) FROM reading"} {
		c.fails(sql, "53400 account 'x' has 0.1/kWh left")
		s.connect().fails(sql, "53400")
	}
	s.remote.err = fmt.Errorf("something else")
	c.fails("SELECT dx_sum(kwh, 1) FROM reading", "22000")
	s.remote.err = nil
	c.answers("SELECT dx_sum(kwh, 1) FROM reading", "280")
	c.fails("SELECT dx_sum(kwh, 'a') FROM reading", "22000 dx_sum:")
	c.fails("SELECT dx_sum(kwh) FROM reading", "42883")
}

func TestTypes(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	const b, y, i, n, f, num, name = 16, 17, 20, 25, 701, 1700, 19
	for sql, want := range map[string][]uint32{
		"SELECT id, home, hour, kwh, temperature, price FROM reading": {i, n, n, y, f, num},
		"SELECT * FROM plain":       {i, f, n, y},
		"SELECT r.* FROM reading r": {i, n, n, y, f, num, y},
		"SELECT 1, 2.5, 'a', NULL, true, x'00', -1, 12345678901234567890":                                                                       {i, f, n, n, b, n, i, f},
		"SELECT n + 1, x * 2, n / 2, n % 2, n || s, n + x, -n FROM plain":                                                                       {i, f, i, i, n, f, i},
		"SELECT n = 1, n IS NULL, s LIKE 'a', NOT n, n IN (1), n BETWEEN 1 AND 2 FROM plain":                                                    {b, b, b, b, b, b},
		"SELECT count(*), count(DISTINCT n), sum(n), sum(x), avg(n), min(s), max(x), total(n) FROM plain":                                       {i, i, i, f, f, n, f, f},
		"SELECT coalesce(n, 0), ifnull(x, 1), nullif(s, ''), abs(n), round(x, 1), iif(n, 1, 2.5) FROM plain":                                    {i, f, n, i, f, f},
		"SELECT length(s), upper(s), substr(s, 1), hex(b), typeof(n), instr(s, 'a') FROM plain":                                                 {i, n, n, n, n, i},
		"SELECT CASE WHEN n THEN 1 ELSE 2 END, CASE n WHEN 1 THEN 'a' END FROM plain":                                                           {i, n},
		"SELECT n::text, s::int, x::numeric, n::bool, CAST(s AS float8), s::date, CAST(n AS TEXT) FROM plain":                                   {n, 23, num, b, f, n, n},
		"SELECT dx_sum(kwh, 1), dx_count(kwh, 1), dx_avg(kwh, 1), dx_value(kwh, 1), dx_histogram(kwh, 1, 2), dx_narrow(kwh, 1, 2) FROM reading": {f, i, f, f, n, y},
		"SELECT dx_curve(kwh, 1), dx_curve_percentile(dx_curve(kwh, 1), 95), dx_curve_share('{}', 2), dx_curve_mean('{}', 0, 50) FROM reading":  {n, f, f, f},
		"SELECT dx_sum(dx_person(kwh, 1, 20), 1), dx_histogram(dx_person(kwh, 1, 20), 1, 2), dx_person(kwh, 1, 20) FROM reading":                {f, n, y},
		"SELECT dx_percentiles(kwh, '[25, 75]', 1) FROM reading":                                                                                {n},
		"SELECT dx_heatmap(place, 1, 1000), geoind_laplace(place, 1), dx_centroid(place, 1) FROM reading":                                       {n, n, n},
		"SELECT row_number() OVER (), rank() OVER (ORDER BY n), lag(x) OVER () FROM plain":                                                      {i, i, f},
		"SELECT date(s), strftime('%Y', s), julianday(s), unixepoch(s) FROM plain":                                                              {n, n, f, i},
		"SELECT * FROM (SELECT count(*) AS c, sum(x) AS y, max(s) AS z FROM plain)":                                                             {i, f, n},
		"SELECT c + 1, c, y FROM (SELECT count(*) AS c, avg(x) AS y FROM plain)":                                                                {i, i, f},
		"WITH w AS (SELECT n AS a, x * 2 AS d FROM plain) SELECT a, d, a + d, sum(d) FROM w":                                                    {i, f, f, f},
		"SELECT (SELECT count(*) FROM plain), (n), (x + 1) * 2 FROM plain":                                                                      {i, i, f},
		"SELECT sum(kwh * 0) FROM (SELECT temperature AS kwh FROM reading)":                                                                     {f},
		"SELECT home, hour FROM recent":                                           {n, n},
		"SELECT n FROM plain UNION SELECT x FROM plain":                           {i},
		"VALUES (1, 'a')":                                                         {n, n},
		"SELECT current_user, version(), current_database()":                      {name, n, name},
		"SELECT json_extract(s, '$.a'), s -> 'a', s ->> 'a', random() FROM plain": {n, n, n, i},
		"SELECT oid, relname, relnatts, relhasindex, reltuples FROM pg_class":     {26, n, 21, b, 700},
	} {
		c.wantTypes(sql, want)
	}
}

// Values that are not of their column's type are sent as that, or are an error that says how to ask.
func TestValues(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.answers("SELECT n, x, s, b FROM plain WHERE rowid <= 4", "1|1.5|one|bytes \x01\n2|2|two|NULL\n3|3.5|3|bytes text\nNULL|NULL|NULL|NULL")
	c.fails("SELECT n FROM plain WHERE rowid = 5", `22003 column "n" holds the number 5.5`)
	c.fails("SELECT x FROM plain WHERE rowid = 5", `22P02 column "x" holds the text "x"`)
	c.fails("SELECT b FROM plain WHERE rowid = 5", `22003 column "b" holds the number 5`)
	c.answers("SELECT CAST(n AS REAL), CAST(x AS TEXT), CAST(b AS TEXT) FROM plain WHERE rowid = 5", "5.5|x|5")
	c.answers("SELECT x'00ff', 1e300 * 1e300, 9223372036854775807, 'ä'", `\x00ff|+Inf|9223372036854775807|ä`)
	c.answers("SELECT price FROM reading WHERE id = 1", "{25 -2 false finite true}")
}

func TestParameters(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	for _, q := range []struct {
		sql, want string
		types     []uint32
		args      []any
	}{
		{"SELECT id FROM reading WHERE id = $1", "3", []uint32{20}, []any{3}},
		{"SELECT id FROM reading r WHERE r.id >= $1 AND home <> $2", "4\n5", []uint32{20, 25}, []any{3, "bo"}},
		{"SELECT id FROM reading WHERE temperature BETWEEN $1 AND $2", "2\n3", []uint32{701, 701}, []any{1.5, 2.5}},
		{"SELECT id FROM reading WHERE id IN ($1, $2, $3)", "1\n5", []uint32{20, 20, 20}, []any{5, 1, 9}},
		{"SELECT id FROM reading WHERE id = ANY($1) AND home <> ALL($2)", "3", []uint32{1016, 1009}, []any{[]int64{1, 3}, []string{"ana", "x\"y"}}},
		{"SELECT id FROM reading LIMIT $1 OFFSET $2", "2\n3", []uint32{20, 20}, []any{2, 1}},
		{"SELECT home FROM reading GROUP BY home HAVING count(*) > $1", "ana\ncy", []uint32{20}, []any{1}},
		{"SELECT dx_sum(kwh, $1) FROM reading WHERE upper(home) = $2", "56", []uint32{701, 25}, []any{0.5, "BO"}},
		{"SELECT $1::int8 + 1, $2::text, CAST($3 AS float8)", "3|a|1.5", []uint32{20, 25, 701}, []any{2, "a", 1.5}},
		{"SELECT id + $1 FROM reading WHERE id = 1", "8", []uint32{20}, []any{7}},
		{"SELECT $1", "a", []uint32{25}, []any{"a"}},
		{"SELECT id FROM reading WHERE $1 = id", "3", []uint32{20}, []any{3}},
		{"SELECT id FROM reading WHERE home LIKE $1 AND (length(home)) = $2", "1\n2", []uint32{25, 20}, []any{"a%", 3}},
		{"SELECT id FROM reading WHERE home = $2 AND hour > $1 AND home = $2", "2", []uint32{25, 25}, []any{"2024-03-01 00:30", "ana"}},
		{"SELECT relname FROM pg_class WHERE relname = $1 AND oid > $2", "plain", []uint32{19, 26}, []any{"plain", 5}},
		{"SELECT dx_percentile(kwh, $1, $2, $3) FROM reading", "280", []uint32{701, 701, 25}, []any{50.0, 0.1, "dh"}},
		{"SELECT count(*) FROM plain WHERE $1 OR n IS NULL", "1", []uint32{25}, []any{"0"}},
	} {
		d, err := c.Prepare(context.Background(), "", q.sql)
		if err != nil || !slices.Equal(d.ParamOIDs, q.types) {
			t.Errorf("%s: parameters %v %v, want %v", q.sql, d, err, q.types)
			continue
		}
		c.answers(q.sql, q.want, q.args...)
	}
	// A client that sends its arguments as text, without a type.
	r := c.PgConn().ExecParams(context.Background(), "SELECT id, dx_sum(kwh, $2) FROM reading WHERE id = $1", [][]byte{[]byte("2"), []byte("0.5")}, nil, nil, nil).Read()
	if r.Err != nil || string(r.Rows[0][0]) != "2" {
		t.Error(r.Rows, r.Err)
	}
	// Types that the client declares count.
	r = c.PgConn().ExecParams(context.Background(), "SELECT typeof($1), typeof($2), typeof($3)", [][]byte{[]byte("2"), []byte("1.5"), []byte("t")}, []uint32{23, 1700, 16}, nil, nil).Read()
	if r.Err != nil || string(r.Rows[0][0])+string(r.Rows[0][1])+string(r.Rows[0][2]) != "integerrealinteger" {
		t.Error(r.Rows, r.Err)
	}
	r = c.PgConn().ExecParams(context.Background(), "SELECT $1, $2, $3", [][]byte{[]byte("2"), []byte("1.5"), []byte("t")}, []uint32{20, 701, 16}, nil, nil).Read()
	if r.Err != nil || r.FieldDescriptions[0].DataTypeOID != 20 || r.FieldDescriptions[1].DataTypeOID != 701 || string(r.Rows[0][2]) != "t" {
		t.Error(r.FieldDescriptions, r.Rows, r.Err)
	}
	// A long IN list is described in reasonable time.
	list := "SELECT id FROM reading WHERE id IN ($1"
	args := []any{1}
	for i := 2; i <= 20_000; i++ {
		list += fmt.Sprintf(", $%d", i)
		args = append(args, 2)
	}
	began := time.Now()
	c.answers(list+")", "1\n2", args...)
	if d := time.Since(began); d > 5*time.Second && emulate.Emulator() == "" {
		t.Errorf("a list of 20,000 parameters takes %v", d)
	}
}

func TestTransactions(t *testing.T) {
	path := newFile(t)
	s := serve(t, Config{Path: path})
	c := s.connect()
	status := func(want byte) {
		t.Helper()
		if got := c.PgConn().TxStatus(); got != want {
			t.Errorf("status %c, want %c", got, want)
		}
	}
	status('I')
	c.answers("BEGIN", "")
	status('T')
	c.answers("SELECT count(*) FROM plain", "5")
	asOwner(t, path, "INSERT INTO plain(n) VALUES (6)")
	c.answers("SELECT count(*) FROM plain", "5") // of its snapshot
	s.connect().answers("SELECT count(*) FROM plain", "6")
	c.answers("SET application_name = 'inside'", "")
	c.answers("SAVEPOINT a", "")
	c.answers("SET LOCAL search_path = 'x'", "")
	c.answers("SHOW search_path", "x")
	c.fails("SELECT nope", "42703")
	status('E')
	c.fails("SELECT 1", "25P02")
	c.answers("ROLLBACK TO SAVEPOINT a", "")
	status('T')
	c.answers("SHOW search_path", `"$user", public`)
	c.answers("SELECT 1", "1")
	c.answers("RELEASE a", "")
	c.fails("RELEASE a", "3B001")
	c.answers("ROLLBACK", "")
	status('I')
	c.answers("SHOW application_name", "")
	if got := c.PgConn().ParameterStatus("application_name"); got != "" {
		t.Errorf("the client was told that application_name is %q", got)
	}
	c.answers("SELECT count(*) FROM plain", "6")
	c.fails("BEGIN READ WRITE", "25006")
	c.answers("START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "")
	c.answers("SET LOCAL statement_timeout = '1s'", "")
	c.answers("COMMIT", "")
	c.answers("SHOW statement_timeout", "0")
	c.answers("COMMIT", "")
	if !slices.Contains(c.notices, "WARNING: there is no transaction in progress") {
		t.Errorf("notices %q", c.notices)
	}
	c.answers("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE", "")
	c.fails("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "25006")
	c.fails("SAVEPOINT a", "25P01")
	// An error that the session does not see fails the transaction too.
	c.answers("BEGIN", "")
	c.fails("SELECT $1::int8", "22P02", "x")
	c.fails("SELECT 1", "25P02")
	status('E')
	c.answers("COMMIT", "")
	status('I')
}

// asOwner writes to the database as its owner does.
func asOwner(t testing.TB, path, sql string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

// A change of the tables is seen, and a statement fails if its columns change.
func TestSchemaChange(t *testing.T) {
	path := newFile(t)
	s := serve(t, Config{Path: path})
	c := s.connect()
	if _, err := c.Prepare(context.Background(), "all", "SELECT * FROM plain LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prepare(context.Background(), "one", "SELECT n FROM plain LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	asOwner(t, path, "ALTER TABLE plain ADD COLUMN more TEXT; ALTER TABLE reading DROP COLUMN price")
	c.answers("one", "1")
	c.fails("all", "0A000")
	c.answers("SELECT dx_sum(kwh, 1), sum(id) FROM reading", "280|15")
	c.fails("SELECT sum(kwh) FROM reading", "42804")
}

// The catalogue is filled when a statement first names one of its relations, and does not go by transactions.
func TestCatalogueIsFilledOnce(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.answers("BEGIN", "")
	c.answers("DECLARE c CURSOR FOR SELECT id FROM reading ORDER BY id", "")
	c.answers("FETCH c", "1")
	if _, err := c.Prepare(context.Background(), "p", "SELECT count(*) FROM pg_class JOIN reading ON relname = 'reading' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	c.answers("p", "1")
	c.answers("FETCH c", "2")
	c.answers("ROLLBACK", "")
	c.answers("p", "1")
	c.fails("SELECT * FROM pg_nothing", "42P01")
	c.answers("SELECT setting FROM pg_settings WHERE name = 'max_index_keys'", "32")
}

func TestCursors(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.fails("DECLARE c CURSOR FOR SELECT 1", "25P01")
	c.fails("FETCH c", "34000")
	c.answers("BEGIN", "")
	c.answers("DECLARE c NO SCROLL CURSOR FOR SELECT id, home FROM reading WHERE id > $1", "", 1)
	c.answers("DECLARE d CURSOR WITHOUT HOLD FOR SELECT n FROM plain", "")
	c.answers("FETCH c", "2|ana")
	c.answers("FETCH 2 FROM d", "1\n2")
	tag := func(sql, want string) {
		t.Helper()
		if got, err := c.Exec(context.Background(), sql); err != nil || got.String() != want {
			t.Errorf("%s: %s %v, want %s", sql, got, err, want)
		}
	}
	tag("MOVE 1 IN c", "MOVE 1")
	c.answers("FETCH FORWARD ALL FROM c", "4|cy\n5|cy")
	tag("FETCH ALL FROM c", "FETCH 0")
	tag("CLOSE c", "CLOSE CURSOR")
	c.fails("FETCH c", "34000")
	c.answers("ROLLBACK", "")
	c.fails("FETCH d", "34000")
	c.answers("DECLARE h CURSOR WITH HOLD FOR SELECT id FROM reading", "")
	c.answers("FETCH 2 FROM h", "1\n2")
	c.answers("FETCH 2 FROM h", "3\n4")
	c.fails("DECLARE h CURSOR WITH HOLD FOR SELECT id FROM reading", "42P03")
	c.fails("FETCH PRIOR FROM h", "0A000")
	tag("CLOSE ALL", "CLOSE CURSOR ALL")
	c.fails("DECLARE h CURSOR WITH HOLD FOR DELETE FROM reading", "25006")
	c.fails("DECLARE h CURSOR WITH HOLD FOR SELECT sum(kwh) FROM reading", "42804")
}

// Portals of one statement, and of several, are open at a time.
func TestPortals(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	tx, err := c.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := c.Prepare(context.Background(), "p", "SELECT id FROM reading WHERE id > $1"); err != nil {
		t.Fatal(err)
	}
	batch := &pgx.Batch{}
	for i := range 3 {
		batch.Queue("p", i)
	}
	results := c.SendBatch(context.Background(), batch)
	defer results.Close()
	for i := range 3 {
		rows, err := results.Query()
		if err != nil {
			t.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) != 5-i || ids[0] != int64(i+1) {
			t.Error(ids, err)
		}
	}
}

// A cursor is a portal, for clients that describe it, and DEALLOCATE closes prepared statements.
func TestProtocolNames(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.answers("BEGIN", "")
	c.answers(`DECLARE "a ""b" CURSOR FOR SELECT id, temperature FROM reading`, "")
	conn := c.PgConn().Conn()
	fe := c.PgConn().Frontend()
	conn.SetDeadline(time.Now().Add(time.Minute))
	for _, name := range []string{`a "b`, "nothing"} {
		fe.SendDescribe(&pgproto3.Describe{ObjectType: 'P', Name: name})
		fe.SendSync(&pgproto3.Sync{})
		if err := fe.Flush(); err != nil {
			t.Fatal(err)
		}
		m, err := fe.Receive()
		if d, is := m.(*pgproto3.RowDescription); name != "nothing" && (!is || len(d.Fields) != 2 || d.Fields[1].DataTypeOID != 701) {
			t.Errorf("%q is described as %v %v", name, m, err)
		}
		if e, is := m.(*pgproto3.ErrorResponse); name == "nothing" && (!is || e.Code != "34000") {
			t.Errorf("%q is described as %v %v", name, m, err)
		}
		if _, err := fe.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	conn.SetDeadline(time.Time{})
	c.answers("ROLLBACK", "")
	for i := range 4200 { // more than a session may have at a time
		if _, err := c.PgConn().Prepare(context.Background(), fmt.Sprint("_pg3_", i), "SELECT 1", nil); err != nil {
			t.Fatal(i, err)
		}
		if _, err := c.PgConn().Exec(context.Background(), fmt.Sprint("DEALLOCATE _pg3_", i)).ReadAll(); err != nil {
			t.Fatal(i, err)
		}
	}
	c.fails("_pg3_5", "42601")
}

func TestCopy(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	for sql, want := range map[string]string{
		"COPY (SELECT id, home, kwh FROM reading WHERE id < 3) TO STDOUT":          "1\tana\t\\\\x7365616c6564\n2\tana\t\\\\x7365616c6564\n",
		"COPY plain(n, s) TO STDOUT WITH (FORMAT csv, HEADER, NULL 'none')":        "n,s\n1,one\n2,two\n3,3\nnone,none\n",
		"COPY (SELECT dx_sum(kwh, 1) FROM reading) TO STDOUT (FORMAT csv)":         "280\n",
		"COPY (SELECT home, 1.5 FROM reading LIMIT 1) TO STDOUT CSV DELIMITER ';'": "ana;1.5\n",
	} {
		if strings.Contains(sql, "plain") {
			sql = strings.Replace(sql, "plain(n, s)", "(SELECT n, s FROM plain WHERE rowid < 5)", 1)
		}
		var out strings.Builder
		tag, err := c.PgConn().CopyTo(context.Background(), &out, sql)
		if err != nil || out.String() != want || tag.RowsAffected() != int64(strings.Count(want, "\n")-strings.Count(sql, "HEADER")) {
			t.Errorf("%s: %q %s %v", sql, out.String(), tag, err)
		}
	}
	c.fails("COPY reading FROM STDIN", "25006")
	c.fails("COPY reading FROM STDIN (FORMAT binary)", "25006")
	c.fails("COPY reading TO STDOUT (FORMAT binary)", "0A000")
	c.fails("COPY reading TO STDOUT BINARY", "42601")
	c.fails("COPY (DELETE FROM reading) TO STDOUT", "25006")
	c.fails("COPY (SELECT sum(kwh) FROM reading) TO STDOUT", "42804")
	c.fails("COPY reading TO '/tmp/x'", "0A000")
}

func TestSettings(t *testing.T) {
	s := serve(t, Config{Timeout: 30 * time.Second})
	c := s.connect("application_name=tests", "options='-c statement_timeout=5s --search-path=a\\\\ b'", "timezone=Europe/Berlin")
	for name, want := range map[string]string{
		"application_name": "tests", "statement_timeout": "5s", "search_path": "a b", "TimeZone": "Europe/Berlin", "server_version": "15.0",
		"transaction_isolation": "repeatable read", "is_superuser": "off", "session_authorization": "ann", "geosql.epsilon": "",
	} {
		c.answers("SHOW "+name, want)
	}
	c.answers("SELECT current_setting('application_name'), set_config('application_name', 'x', false)", "tests|x")
	c.answers("SHOW application_name", "x")
	if got := c.PgConn().ParameterStatus("application_name"); got != "x" {
		t.Errorf("the client was told %q", got)
	}
	c.answers("SET statement_timeout = 0", "")
	c.answers("SHOW statement_timeout", "30s")
	c.answers("SET statement_timeout = 1500", "")
	c.answers("SHOW statement_timeout", "1500ms")
	c.answers("SET statement_timeout TO '1min'", "")
	c.answers("SHOW statement_timeout", "30s")
	c.answers("SET my.thing = 5", "")
	c.answers("SHOW my.thing", "5")
	c.answers("SET extra_float_digits = 3", "")
	c.answers("SET DateStyle = ISO", "")
	c.answers("SET NAMES 'utf8'", "")
	c.answers("SET TIME ZONE 'UTC'", "")
	c.answers("RESET ALL", "")
	c.answers("SHOW application_name", "tests")
	c.answers("SET search_path TO DEFAULT", "")
	c.fails("SET client_encoding = 'LATIN1'", "22023")
	c.fails("SET nonsense = 1", "42704")
	c.fails("SHOW nonsense", "42704")
	c.fails("SET server_version = '16'", "55P02")
	c.fails("SET default_transaction_read_only = off", "25006")
	c.fails("SET statement_timeout = 'soon'", "22023")
	c.fails("SET standard_conforming_strings = off", "25006")
	c.answers("SET LOCAL work_mem = '1MB'", "")
	c.answers("DISCARD ALL", "")
	c.answers("DEALLOCATE ALL", "")
	rows, failure := c.try("SHOW ALL")
	if failure != "" || len(rows) < 40 {
		t.Error(len(rows), failure)
	}
	for _, bad := range []string{"options='-c nonsense=1'", "options='-x'", "options='-c geosql.epsilon=x'", "client_encoding=LATIN1"} {
		if _, err := pgx.Connect(context.Background(), s.dsn()+" password=secret "+bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// A result may have so many rows.
func TestRows(t *testing.T) {
	s := serve(t, Config{Rows: 3})
	c := s.connect()
	c.answers("SELECT id FROM reading LIMIT 3", "1\n2\n3")
	rows, failure := c.try("SELECT id FROM reading")
	if len(rows) != 3 || !strings.HasPrefix(failure, "54000 the result has more than 3 rows") {
		t.Error(rows, failure)
	}
	c.answers("SELECT count(*) FROM reading", "5")
}

// Positions are in the client's text.
func TestPositions(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	for _, sql := range []string{"SELECT id, ^nope FROM reading", "SELECT id::text, ^nope FROM reading", "SELECT 'ä', ^) FROM reading",
		"SELECT 1; SELECT ^nope"} {
		before, after, _ := strings.Cut(sql, "^")
		_, err := c.PgConn().Exec(context.Background(), before+after).ReadAll()
		e, _ := err.(*pgconn.PgError)
		if e == nil || int(e.Position) != len([]rune(before))+1 {
			t.Errorf("%s: %+v", sql, err)
		}
	}
	c.fails("SELEC 1", "42601")
	c.fails("SELECT count(*) FROM nowhere", "42P01")
	c.fails("SELECT nofunction(1)", "42883")
	c.fails("SELECT \"no such column\"", "42703")
	c.fails("SELECT home FROM reading JOIN recent", "42702")
	c.fails("SELECT sum(count(*)) FROM reading", "42803")
	c.fails("SELECT DISTINCT ON (home) * FROM reading", "0A000")
}

// Statements of random words never end a session.
func TestRandomStatements(t *testing.T) {
	s := serve(t, Config{Timeout: time.Second, Rows: 1000})
	c := s.connect()
	words := strings.Fields(`SELECT WITH FROM reading plain recent WHERE kwh n x s id dx_sum ( ) ( ) , , * + - = $1 ::text ::int AS a 'b' 1 2.5 NULL ORDER BY GROUP
		LIMIT UNION ALL IN BETWEEN AND CASE WHEN THEN ELSE END count sum BEGIN COMMIT DECLARE c CURSOR FOR FETCH COPY TO STDOUT EXPLAIN SET geosql.epsilon = 0.1 SHOW ;`)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var list []string
		for range 2 + random.IntN(12) {
			list = append(list, words[random.IntN(len(words))])
		}
		sql := strings.Join(list, " ")
		if strings.Contains(sql, "COPY") && strings.Contains(sql, "STDOUT") {
			continue // pgx does not take a copy as an answer
		}
		c.PgConn().Exec(context.Background(), sql).ReadAll()
		if c.IsClosed() {
			t.Fatalf("%s ended the session", sql)
		}
	}
	c.PgConn().Exec(context.Background(), "ROLLBACK").ReadAll()
	c.answers("SELECT count(*) FROM plain", "5")
}

// Only statements that cannot ask another time end with their first row.
func TestSingleRows(t *testing.T) {
	s, err := NewSession(Config{Path: newFile(t), Database: "homes", User: "ann"}, silent{}, &remote{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for sql, want := range map[string][2]bool{ // whether it asks, and whether it is single
		"SELECT count(*) FROM reading":                                                    {false, false},
		"SELECT dx_narrow(kwh, 0, 1) FROM reading":                                        {false, false},
		"SELECT dx_sum(dx_person(kwh, 0, 1), 0.1) FROM reading":                           {true, true},
		"SELECT dx_sum(kwh, 0.1) FROM reading":                                            {true, true},
		"SELECT dx_sum(kwh, $1), dx_count(kwh, 0.1) FROM reading WHERE home = $2":         {true, true},
		"SELECT (SELECT dx_sum(kwh, 0.1) FROM reading) / 2":                               {true, true},
		"SELECT dx_value(kwh, 0.1) FROM reading WHERE rowid = 1":                          {true, true},
		"SELECT dx_value(kwh, 0.1) FROM reading":                                          {true, false},
		"SELECT dx_value(kwh, 0.1) FROM reading LIMIT 1":                                  {true, false},
		"SELECT home, dx_sum(kwh, 0.1) FROM reading GROUP BY home":                        {true, false},
		"SELECT dx_sum(kwh, 1) FROM reading UNION ALL SELECT dx_sum(kwh, 2) FROM reading": {true, false},
		"SELECT dx_sum(kwh, 1) FROM reading UNION SELECT dx_sum(kwh, 2) FROM reading":     {true, false},
		"SELECT dx_value(a.kwh, 1) FROM reading a, reading b WHERE a.rowid = 1":           {true, false},
	} {
		st, _, err := s.Prepare(context.Background(), sql, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		q := st.(*query)
		if got := [2]bool{q.asks, q.single}; got != want {
			t.Errorf("%s: it asks, and is single: %v, want %v", sql, got, want)
		}
		q.Close()
	}
}
