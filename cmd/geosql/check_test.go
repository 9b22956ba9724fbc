package main

import (
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

const sealedSetup = `CREATE TABLE geosql_sealed_column(number INTEGER PRIMARY KEY, tbl TEXT, col TEXT, account TEXT, kind TEXT, name TEXT);
	INSERT INTO geosql_sealed_column VALUES (1, 'reading', 'kwh', 'home', 'universe', 'u');
	CREATE TABLE reading(home TEXT, kwh BLOB, price REAL);
	INSERT INTO reading VALUES ('a', zeroblob(56), 2), ('b', zeroblob(56), 3)`

func TestCheck(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, sealedSetup)
	const header = "result,sealed,through,instead\n"
	for _, c := range []struct {
		sql, out, err string
	}{
		{"SELECT count(kwh), sum(price), kwh FROM reading", header, ""},
		{"SELECT 1; SELECT home FROM reading;", header, ""},
		{"SELECT home, sum(kwh) AS s FROM reading GROUP BY home", header + `s,reading.kwh,sum,"write dx_sum(kwh, epsilon)"` + "\n", "geosql: 1 use of a sealed column would be wrong\n"},
		{"SELECT upper(kwh) AS h FROM reading; SELECT avg(kwh) AS a FROM reading",
			header + `h,reading.kwh,upper,"compute with a private answer, such as dx_sum(kwh, epsilon)"` + "\n" + `a,reading.kwh,avg,"write dx_avg(kwh, epsilon)"` + "\n",
			"geosql: 2 uses of sealed columns would be wrong\n"},
	} {
		status := 0
		if c.err != "" {
			status = 1
		}
		want := clitest.Result{Out: c.out, Err: c.err, Status: status}
		if got := clitest.Run(t, "", "-csv", "check", db, c.sql); got != want {
			t.Errorf("%s: %+v, want %+v", c.sql, got, want)
		}
		if got := clitest.Run(t, c.sql, "-csv", "check", db); got != want {
			t.Errorf("%s from standard input: %+v, want %+v", c.sql, got, want)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "check", db, " -- nothing"), 1, "the SQL holds no statement")
	clitest.WantError(t, clitest.Run(t, "", "check", db, "SELECT 1; SELECT nosuch"), 1, "no such column: nosuch")
	clitest.WantError(t, clitest.Run(t, "", "check"), 2, "check: too few arguments")
	missing := clitest.TempFile(t, "none.db")
	clitest.WantError(t, clitest.Run(t, "", "check", missing, "SELECT 1"), 1, "no such database")
	if _, err := os.Stat(missing); err == nil {
		t.Error("check created the database")
	}
	clitest.Help(t, "check", "-h")
}

// Statements that misuse a sealed value are not run.
func TestMisuseIsRefused(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, sealedSetup)
	for sql, text := range map[string]string{
		"SELECT sum(kwh) FROM reading":                                             "geosql: sum over the sealed column reading.kwh would be a wrong number: write dx_sum(kwh, epsilon)\n",
		"SELECT home FROM reading WHERE kwh > 3":                                   "> over the sealed column reading.kwh would be a wrong answer: a condition on a sealed value is not possible; count with dx_histogram(kwh, epsilon, bins)",
		"DELETE FROM reading WHERE kwh > 3":                                        "> over the sealed column",
		"SELECT sum(kwh), avg(kwh), kwh + 1 FROM reading":                          "(and 2 more, which geosql check shows)",
		"CREATE TEMP VIEW v AS SELECT sum(kwh) AS s FROM reading; SELECT s FROM v": "sum over the sealed column",
	} {
		r := clitest.Run(t, "", db, sql)
		clitest.WantError(t, r, 1, text)
		if r.Out != "" {
			t.Errorf("%s printed %s", sql, r.Out)
		}
	}
	if got := clitest.Query(t, "-csv", db, "EXPLAIN SELECT sum(kwh) FROM reading; SELECT count(kwh) FROM reading"); !strings.HasSuffix(got, "\n2\n") {
		t.Errorf("printed %s", got)
	}
}

func TestEpsilonFlag(t *testing.T) {
	db, plain := clitest.TempFile(t, "x.db"), clitest.TempFile(t, "plain.db")
	clitest.Query(t, db, sealedSetup)
	clitest.Query(t, plain, "CREATE TABLE t(x)")
	clitest.WantError(t, clitest.Run(t, "", "--epsilon", "0.1", db, "SELECT sum(kwh), sum(price) FROM reading"), 1,
		"sum is used over the sealed column reading.kwh and over public values: write dx_sum(x, 0.1) where it is over the sealed one")
	clitest.WantError(t, clitest.Run(t, "", "--epsilon", "0.1", db, "SELECT sum(kwh) OVER () FROM reading"), 1, "sum over the sealed column")
	clitest.WantError(t, clitest.Run(t, "", "--epsilon", "0.1", plain, "SELECT 1"), 1, "-epsilon is for sealed databases, and this one has no sealed column")
	clitest.WantError(t, clitest.Run(t, "", "--epsilon", "0.1", db+"2", "SELECT 1"), 1, "no such database")
	for _, value := range []string{"0", "-1", "x", "nan", ""} {
		clitest.WantError(t, clitest.Run(t, "", "--epsilon="+value, db, "SELECT 1"), 2, "epsilon")
	}
	if got := clitest.Query(t, "-csv", "--epsilon", "0.1", db, "SELECT sum(price), count(kwh) AS n FROM reading"); got != "sum(price),n\n5,2\n" {
		t.Errorf("printed %s", got)
	}
}
