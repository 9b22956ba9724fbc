package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/trials"
)

// scarce is a database in which bo can pay 0.02/m, and ana only 0.01/m.
func scarce(t *testing.T) (db string) {
	t.Helper()
	db = clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup+`; SELECT budget_limit('ana', 'm', 0.01);
		SELECT dx_universe('u', 0, 10, 1, 'kWh'); SELECT budget_limit('*', 'kWh', 1);
		SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 0.02, "alpha": 600}');
		CREATE VIEW private AS `+releaseSQL+`; CREATE TABLE fired(lat);
		CREATE TABLE fires(a); CREATE TRIGGER t AFTER INSERT ON fires BEGIN INSERT INTO fired SELECT geoind_laplace('ana', 48.85, 2.33, 0.006); END`)
	return db
}

// contents returns all that a statement could have changed.
func contents(t *testing.T, db string) string {
	t.Helper()
	return clitest.Query(t, "-csv", db, `SELECT * FROM ledger_balance; SELECT * FROM ledger_charges; SELECT ledger_head();
		SELECT * FROM sqlite_schema; SELECT * FROM place; SELECT * FROM fired; SELECT * FROM fires`)
}

// A statement that somebody cannot pay for charges nobody, changes nothing and prints no row.
func TestPreflightRefuses(t *testing.T) {
	t.Parallel()
	db := scarce(t)
	before := contents(t, db)
	const ana = "geosql: geoind_laplace: account 'ana' has 0.010/m left of 0.010/m, 0.016/m asked, 0.006/m short; " +
		"1 of 2 accounts cannot pay for the whole statement; a limit of 0.016/m would suffice; nothing was charged\n"
	const (
		anyway    = "--no-preflight (in the shell, .preflight off) runs it as far as the budgets reach"
		cure      = "write the values that decide into a table first (CREATE TEMP TABLE .. AS SELECT ..) and go on from there; " + anyway
		uncounted = "geosql: malformed JSON; its charges cannot be counted before it runs, and nothing was charged; " + anyway + "\n"
	)
	for sql, want := range map[string]string{
		releaseSQL:                                      ana,
		"SELECT * FROM private":                         ana,
		"INSERT INTO place " + releaseSQL:               ana,
		"CREATE TABLE kept AS " + releaseSQL:            ana,
		"CREATE TEMP TABLE kept AS " + releaseSQL:       ana,
		"UPDATE place SET lat = 1; " + releaseSQL + ";": ana,
		"BEGIN; " + releaseSQL:                          ana,
		releaseSQL + " WHERE g.lat > 0":                 ana, // each row is charged, shown or not
		"SELECT geoind_laplace('bo', 48.85, 2.33, 0.001) UNION ALL SELECT geoind_laplace('ana', lat, lon, 0.006) FROM trip WHERE person = 'ana'": "geosql: geoind_laplace: account 'ana' has 0.010/m left of 0.010/m, 0.012/m asked, 0.002/m short; " +
			"1 of 2 accounts cannot pay for the whole statement; a limit of 0.012/m would suffice; nothing was charged\n",
		// Several functions, and several units.
		"SELECT geoind_laplace('ana', lat, lon, 0.004), geoind_laplace_l1('ana', lat, lon, 0.004), dx_value(person, 1, 0.6, 'u') FROM trip WHERE person = 'ana'": "geosql: dx_value: account 'ana' has 1.0/kWh left of 1.0/kWh, 1.2/kWh asked, 0.2/kWh short; a limit of 1.2/kWh would suffice; " +
			"geoind_laplace, geoind_laplace_l1: account 'ana' has 0.010/m left of 0.010/m, 0.016/m asked, 0.006/m short; a limit of 0.016/m would suffice; nothing was charged\n",
		// Groups that are charged one after the other, and one group, which is charged at once.
		"SELECT person, dx_count(person, 1) FROM trip GROUP BY person": "geosql: dx_count: account 'ana' has no budget in unit 'record' (limits exist for 'kWh', 'm'); set one: SELECT budget_limit('ana', 'record', EPSILON) or budget_limit('*', 'record', EPSILON); " +
			"2 of 2 accounts cannot pay for the whole statement; limits of 2/record would suffice; nothing was charged\n",
		"SELECT dx_sum(person, 1, 2, 'u') FROM trip": "geosql: dx_sum: account 'ana' has 1/kWh left of 1/kWh, 2/kWh asked, 1/kWh short; " +
			"2 of 2 accounts cannot pay for the whole statement; limits of 2/kWh would suffice; nothing was charged\n",
		// Groups that cost one by one, with the form that costs less.
		"SELECT n, dx_sum(person, lat, 0.6, 'u') FROM trip, (SELECT 1 AS n UNION ALL SELECT 2) GROUP BY n": "geosql: dx_sum: account 'ana' has 1.0/kWh left of 1.0/kWh, 1.2/kWh asked, 0.2/kWh short; " +
			"2 of 2 accounts cannot pay for the whole statement; limits of 1.2/kWh would suffice; 2 groups cost one by one: a row of table trip may be used several times; " +
			"make the groups of its readings alone first, WITH g AS MATERIALIZED (SELECT .. GROUP BY ..) SELECT .. FROM g JOIN .., or join by a unique key; nothing was charged\n",
		// Of a statement with one evaluation the ledger says all there is to say.
		"SELECT geoind_laplace('ana', 48.85, 2.33, 0.02)": "geosql: geoind_laplace: account 'ana' has 0.01/m left of 0.01/m, 0.02/m asked, 0.01/m short\n",
		// Where nothing is certain, and where a dry run fails.
		releaseSQL + " LIMIT 9 + abs(random()) % 9":                                                                      "geosql: the charges may exceed what is left: released or random values decide them; " + cure + "; nothing was charged\n",
		releaseSQL + " WHERE random() <> 0.5":                                                                            "geosql: the charges may exceed what is left: released or random values decide them; " + cure + "; nothing was charged\n",
		"INSERT INTO fires VALUES (1), (2)":                                                                              "geosql: the charges may exceed what is left: it fires triggers; " + cure + "; nothing was charged\n",
		"SELECT geoind_laplace(account, 48.85, 2.33, 0.001) FROM ledger_balance WHERE account <> '*'":                    "geosql: the charges may exceed what is left: it reads the ledger, which changes while it runs; " + cure + "; nothing was charged\n",
		"SELECT json(geoind_laplace(person, lat, lon, 0.004)) FROM trip":                                                 uncounted,
		"SELECT person, dx_sum(person, 1, 0.5, 'u'), CASE person WHEN 'bo' THEN json('x') END FROM trip GROUP BY person": uncounted,
		"SELECT json('x' || dx_sum(person, 1, 0.5, 'u')) FROM trip":                                                      uncounted,
		// The rest of a trace's budget is more than its account has left.
		"SELECT predictive_step('walk', t, 48.85, 2.33) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM (SELECT 1 AS t UNION SELECT 2)": "geosql: predictive_step: account 'ana' has 0.01/m left of 0.01/m, 0.02/m asked, 0.01/m short; a limit of 0.02/m would suffice; nothing was charged\n",
		// An error in the last row is found before the first is charged.
		"SELECT geoind_laplace('ana', lat + 90 * (person = 'bo'), lon, 0.001) FROM trip ORDER BY person": "geosql: geoind_laplace: lat must lie between -90 and 90\n",
		"SELECT geoind_laplace(nullif(person, 'bo'), lat, lon, 0.001) FROM trip":                         "geosql: geoind_laplace: account must be TEXT or INTEGER, got NULL\n",
	} {
		for _, mode := range trials.Some(t, 1, "-csv", "-json", "-table") {
			r := clitest.Run(t, "", mode, db, sql)
			if r.Status != 1 || r.Err != want || r.Out != "" {
				t.Errorf("%s\nended with %+v\nwant       %s", sql, r, want)
			}
			if r := clitest.Run(t, sql+";\n", mode, db); r.Status != 1 || r.Err != want || r.Out != "" {
				t.Errorf("as a script %s\nended with %+v\nwant       %s", sql, r, want)
			}
		}
		if after := contents(t, db); after != before {
			t.Fatalf("%s\nbefore %s\nafter %s", sql, before, after)
		}
	}
}

// A statement over many accounts takes two entries of each: its charges are reserved together, and recorded together. So are those of a
// statement that writes, of a view and of groups of one account each. A single group of all is charged as it is.
func TestPreflightReserves(t *testing.T) {
	t.Parallel()
	db := scarce(t)
	clitest.Query(t, db, `CREATE TABLE fix AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT 300) SELECT 'p' || (i * 7 % 30) AS who, i FROM c;
		CREATE VIEW shown AS SELECT who, geoind_laplace(who, 48.85, 2.33, 0.0001) AS z FROM fix; SELECT budget_limit('*', 'record', 1000)`)
	for sql, entries := range map[string]string{
		"SELECT * FROM shown": "60",
		"INSERT INTO place(lat) SELECT geoind_laplace(who, 48.85, 2.33, 0.0001) FROM fix": "60",
		"CREATE TABLE made AS SELECT * FROM shown":                                        "60",
		"SELECT who, dx_count(who, 0.1) FROM fix GROUP BY who":                            "60",
		"SELECT dx_count(who, 0.1) FROM fix":                                              "30",
		"SELECT geoind_laplace('p1', 48.85, 2.33, 0.0001)":                                "1",
	} {
		before := strings.Fields(clitest.Query(t, "-csv", db, "SELECT entries FROM ledger_verify"))[1]
		clitest.Query(t, db, sql)
		if got := clitest.Query(t, "-csv", db, "SELECT entries - "+before+" AS n FROM ledger_verify"); got != "n\n"+entries+"\n" {
			t.Errorf("%s takes %s entries, want %s", sql, got, entries)
		}
	}
}

// With --no-preflight a statement runs as far as the budgets reach, and says its charges.
func TestChargedBeforeTheError(t *testing.T) {
	t.Parallel()
	const refused = "geosql: geoind_laplace: account 'ana' has 0.002/m left of 0.010/m, 0.008/m asked, 0.006/m short"
	for _, c := range []struct{ sql, want, spent string }{
		{releaseSQL, refused + ", after charging 0.008/m to 1 account\n", "ana,m,0.008"},
		{releaseSQL + " LIMIT 9 + abs(random()) % 9", refused + ", after charging 0.008/m to 1 account\n", "ana,m,0.008"},
		{releaseSQL + " WHERE random() <> 0.5", refused + ", after charging 0.008/m to 1 account\n", "ana,m,0.008"},
		{"SELECT DISTINCT geoind_laplace(person, lat, lon, 0.008) FROM trip ORDER BY person DESC", "geosql: geoind_laplace: account 'ana' has", ""},
		{"SELECT json(geoind_laplace(person, lat, lon, 0.004)) FROM trip", "geosql: malformed JSON, after charging 0.004/m to 1 account\n", "ana,m,0.004"},
		{"SELECT dx_value(person, 1, 0.25, 'u'), geoind_laplace(person, lat, lon, 0.001), CASE person WHEN 'bo' THEN json('x') END FROM trip",
			"geosql: malformed JSON, after charging 0.75/kWh to 2 accounts and 0.003/m to 2 accounts\n", "ana,kWh,0.5\nana,m,0.002\nbo,kWh,0.25\nbo,m,0.001"},
		{"SELECT person, dx_sum(person, 1, 0.5, 'u'), CASE person WHEN 'bo' THEN json('x') END FROM trip GROUP BY person",
			"geosql: malformed JSON, after charging 1/kWh to 2 accounts\n", "ana,kWh,0.5\nbo,kWh,0.5"},
		{"INSERT INTO place SELECT geoind_laplace('cy', 48.85, 2.33, 0.001); SELECT 1; SELECT json('x')", "geosql: malformed JSON\n", "cy,m,0.001"},
		{"INSERT INTO fires VALUES (1), (2)", "geosql: geoind_laplace: account 'ana' has 0.004/m left", "ana,m,0.006"},
	} {
		db := scarce(t)
		r := clitest.Run(t, "", "-csv", "--no-preflight", db, c.sql)
		if r.Status != 1 || !strings.HasPrefix(r.Err, c.want) {
			t.Errorf("%s\nended with %+v\nwant       %s", c.sql, r, c.want)
		}
		spent := clitest.Query(t, "-csv", db, "SELECT account, unit, spent FROM ledger_balance WHERE spent > 0 ORDER BY 1, 2")
		if c.spent != "" && spent != "account,unit,spent\n"+c.spent+"\n" {
			t.Errorf("%s\nspent %s", c.sql, spent)
		}
	}
}

// An output that takes no more is an error of the statement with the rest of the rows.
func TestChargedBeforeAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	_, noSpace := full.Write([]byte{0}) // in the words of the system
	want := errors.Unwrap(noSpace).Error() + ", after charging 0.001/m to 1 account\n"
	db := scarce(t)
	for _, script := range []string{
		"SELECT geoind_laplace('bo', 48.85, 2.33, 0.001)",
		"SELECT geoind_laplace('bo', 48.85, 2.33, 0.001); SELECT geoind_laplace('bo', 48.85, 2.33, 0.001)",
		"CREATE TABLE made AS SELECT geoind_laplace('cy', 48.85, 2.33, 0.002); SELECT geoind_laplace('bo', 48.85, 2.33, 0.001); SELECT 1",
	} {
		cmd := clitest.Command(t, "-csv", db, script)
		var errOut strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errOut
		status := clitest.ExitStatus(t, cmd.Run())
		if status != 1 || !strings.HasSuffix(errOut.String(), want) {
			t.Errorf("%s: status %d, %s", script, status, errOut.String())
		}
	}
}

// Ctrl-C while the cost is asked for charges nobody.
func TestInterruptedPreflight(t *testing.T) {
	db := limited(t)
	var errOut strings.Builder
	process, wait := started(t, &errOut, endless+"SELECT geoind_laplace('p' || x, 48.85, 2.35, 0.5) FROM c;\n", db)
	if err := clitest.Signal(process, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := wait(); status != 130 || errOut.String() != "geosql: interrupted\n" {
		t.Errorf("status %d, %q", status, errOut.String())
	}
	if s := stateOf(t, db); s != (ledgerState{}) {
		t.Errorf("spent %+v", s)
	}
}

// An amount set aside for the connection can be spent, although it is not left.
func TestPreflightKnowsReservations(t *testing.T) {
	db := scarce(t)
	clitest.Query(t, db, "SELECT budget_reserve('bo', 'm', 0.02); SELECT geoind_laplace('bo', 48.85, 2.33, 0.01) FROM trip WHERE person = 'ana'")
}

// A second trace of an account is refused whatever its limit, so the first must not be spent.
func TestPreflightKnowsWhatIsReleasedOnce(t *testing.T) {
	db := scarce(t)
	const traces = "SELECT cip_trace(person, rowid, lat, lon, 'day') FROM trip GROUP BY person"
	clitest.Query(t, db, `SELECT cip_policy('day', '{"kernel": "rbf", "variance": 10000, "length_scale_max": 60, "radius": 10, "lambda": 2, "epsilon": 1, "family": "singles"}');
		SELECT budget_limit('*', 'cip:day', 10); `+strings.Replace(traces, "GROUP", "WHERE person = 'bo' GROUP", 1))
	r := clitest.Run(t, "", db, traces)
	clitest.WantError(t, r, 1, "cip_trace: account 'bo' was charged in unit 'cip:day' before, where releases do not add up: there is one at the most; "+
		"1 of 2 accounts cannot pay for the whole statement; nothing was charged\n")
	if got := clitest.Query(t, "-csv", db, "SELECT budget_spent('ana', 'cip:day')"); !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("ana has spent %s", got)
	}
}

// Of statements of certain cost, the preflight refuses exactly the ones that the ledger would
// refuse in the end, and otherwise it leaves the charges as they are.
func TestPreflightRefusesNothingElse(t *testing.T) {
	t.Parallel()
	shapes := []string{
		"SELECT geoind_laplace(who, 48.85, 2.33, %s) FROM had",
		"SELECT g.lat FROM had, geoind_laplace(who, 48.85, 2.33, %s) g ORDER BY who",
		"CREATE TABLE made AS SELECT geoind_laplace(who, 48.85, 2.33, %s) FROM had WHERE who <> 'c'",
		"INSERT INTO had SELECT 'd', geoind_laplace(who, 48.85, 2.33, %s) FROM had",
		"SELECT n %% 2, dx_sum(who, n, %s, 'u') FROM had GROUP BY n %% 2",
		"SELECT who, dx_sum(who, n, %s, 'u'), dx_avg(who, n, 0.1, 'u') FROM had GROUP BY who",
		"SELECT dx_count(who, %s) FROM had",
		"SELECT n %% 3, dx_count(who, %s) FROM had GROUP BY 1",
		"SELECT geoind_laplace(who, 48.85, 2.33, %[1]s), dx_value(who, n, %[1]s, 'u') FROM had LIMIT 4",
	}
	random, rounds := trials.Rand(t), trials.Count(t, "GEOSQL_STATEMENTS", len(shapes))
	refusals := 0
	for round := range rounds {
		eps := fmt.Sprintf("0.%d", 1+random.IntN(9))
		sql := fmt.Sprintf(shapes[round%len(shapes)], eps)
		setup := `SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT dx_universe('u', 0, 10, 1, 'kWh'); CREATE TABLE had(who, n);`
		for _, unit := range []string{"m", "kWh", "record"} {
			for _, who := range []string{"*", "a", "b"} {
				setup += fmt.Sprintf("SELECT budget_limit('%s', '%s', %d.%d);", who, unit, random.IntN(3), random.IntN(10))
			}
		}
		for range random.IntN(6) {
			setup += fmt.Sprintf("INSERT INTO had VALUES ('%c', %d);", 'a'+rune(random.IntN(3)), random.IntN(5))
		}
		var spent [2]string
		var runs [2]clitest.Result
		for i, flag := range []string{"-csv", "--no-preflight"} {
			db := clitest.TempFile(t, "x.db")
			clitest.Query(t, db, setup)
			runs[i] = clitest.Run(t, "", flag, db, sql)
			spent[i] = clitest.Query(t, "-csv", db, "SELECT account, unit, spent, reserved FROM ledger_balance WHERE spent + reserved > 0 ORDER BY 1, 2")
		}
		switch {
		case runs[0].Status != runs[1].Status:
			t.Errorf("%s\n%s\n%+v\n%+v", setup, sql, runs[0], runs[1])
		case runs[0].Status != 0 && strings.Count(spent[0], "\n") > 1:
			t.Errorf("%s\n%s: refused, and spent %s", setup, sql, spent[0])
		case runs[0].Status == 0 && spent[0] != spent[1]:
			t.Errorf("%s\n%s: spent %s and without preflight %s", setup, sql, spent[0], spent[1])
		}
		refusals += runs[0].Status
	}
	if rounds >= 100 && (refusals < rounds/8 || refusals > rounds*7/8) {
		t.Errorf("%d of %d statements were refused: the test is one-sided", refusals, rounds)
	}
}
