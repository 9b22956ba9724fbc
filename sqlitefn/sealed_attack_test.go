package sqlitefn_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
)

// A text that is no value of the database gives this error, whatever is wrong with it.
const damaged = " is not a value that was sealed for this database"

// sealedCalls are calls of every function over a sealed reading.
var sealedCalls = []string{"dx_sum(%s, 1)", "dx_value(%s, 1)", "dx_avg(%s, 1, 'nd1')", "dx_max(%s, 1, 'dinf')", "dx_median(%s, 1)", "dx_variance(%s, 1)", "dx_histogram(%s, 1, 2)", "dx_percentile(%s, 50, 1)", "dx_sum(dx_person(%s, 0, 50), 1)"}

// state returns all that an attack must not change.
func (d *database) state() string {
	d.Helper()
	return fmt.Sprint(d.rows(`SELECT account, unit, spent, reserved FROM ledger_balance`), d.rows(`SELECT count(*), max(id) FROM ledger_charges`))
}

// unharmed runs attack and checks that nothing was charged, and that the database answers as
// before.
func (d *sealedDatabase) unharmed(attack func()) {
	d.Helper()
	before := d.state()
	attack()
	if after := d.state(); after != before {
		d.Errorf("the attack was charged: %s, then %s", before, after)
	}
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
}

// refusesValue checks the one error of a value in a call.
func (d *database) refusesValue(call, value string) {
	d.Helper()
	name, _, _ := strings.Cut(call, "(")
	_, err := d.try(`SELECT ` + fmt.Sprintf(call, value))
	if err == nil || err.Error() != name+": sealed"+damaged {
		d.Errorf("%s of %s: %v", call, value, err)
	}
}

// Every bit of a value counts, and so does its length.
func TestDamagedValues(t *testing.T) {
	t.Parallel()
	emulate.NeedsFiles(t)
	d := newSealed(t, sealedRows)
	value := d.seal.Value(columnKWh, "ana", 7)
	d.unharmed(func() {
		changes := make([]int, 255)
		for i := range changes {
			changes[i] = i + 1
		}
		for i := range value {
			for _, change := range trials.Some(t, 50, changes...) {
				value[i] ^= byte(change)
				d.refusesValue(sealedCalls[change%len(sealedCalls)], fmt.Sprintf("x'%x'", value))
				value[i] ^= byte(change)
			}
		}
		for n := range value {
			d.refusesValue("dx_sum(%s, 1)", fmt.Sprintf("x'%x'", value[:n]))
		}
		for n := 1; n <= 40; n++ {
			if n == 16 { // as long as a range: see TestForgedRanges
				continue
			}
			d.refusesValue("dx_sum(%s, 1)", fmt.Sprintf("CAST(x'%x' || zeroblob(%d) AS BLOB)", value, n))
		}
	})
	d.answers(`SELECT dx_value(`+fmt.Sprintf("x'%x'", value)+`, 100)`, "[[7]]")
}

// None of many random values opens; half of them claim the column and session of a value that
// does, and a quarter its counter. One in 25 is tried in a statement of its own.
func TestRandomValues(t *testing.T) {
	t.Parallel()
	emulate.NeedsFiles(t)
	n := trials.Fewer(200_000, 1_000_000)
	d := newSealed(t, sealedRows)
	value := d.seal.Value(columnKWh, "ana", 7)
	release, err := d.again().conn.PrepareContext(t.Context(), `SELECT dx_value(?, 1)`)
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close()
	random := rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%032d", trials.Seed(t))))
	var opens func([]byte) bool
	d.raw(func(c *sqlitefn.Conn) { opens = c.Opens(t) })
	if !opens(value) {
		t.Fatal("a value does not open")
	}
	d.function("try", func(i int64) int64 {
		b := make([]byte, len(value))
		random.Read(b)
		switch i % 4 {
		case 0:
			copy(b, value[:8])
		case 1:
			copy(b, value[:16])
		}
		if i%50 < 2 {
			var answer any
			if err := release.QueryRow(b).Scan(&answer); err == nil || err.Error() != "dx_value: sealed"+damaged {
				t.Errorf("%x: %v, %v", b, answer, err)
			}
		}
		if opens(b) {
			return 1
		}
		return 0
	})
	d.unharmed(func() {
		d.answers(fmt.Sprintf(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT count(*), sum(try(i)) FROM c`, n), fmt.Sprintf("[[%d 0]]", n))
	})
}

// A suffix as dx_narrow writes it is not authenticated, so nothing in it may do more than
// dx_narrow may.
func TestForgedRanges(t *testing.T) {
	d := newSealed(t, sealedRows)
	value := fmt.Sprintf("%x", d.seal.Value(columnKWh, "ana", 7))
	const (
		zero, one, three, ten, eleven = "0000000000000000", "3ff0000000000000", "4008000000000000", "4024000000000000", "4026000000000000"
		half, nan, inf, minus         = "3fe0000000000000", "7ff8000000000001", "7ff0000000000000", "bff0000000000000"
	)
	d.unharmed(func() {
		for suffix, want := range map[string]string{
			zero + eleven: "is narrowed to 0..11, and 11 is not a value of", minus + ten: "is narrowed to -1..10, and -1 is not a value of",
			half + ten: "is narrowed to 0.5..10, and 0.5 is not a value of", zero + nan: "is narrowed to 0..NaN, and NaN is not a value of",
			nan + nan: "NaN is not a value of", zero + inf: "Inf is not a value of", "fff0000000000000" + inf: "Inf is not a value of",
			ten + three: "hi 3 is not above lo 10", three + three: "hi 3 is not above lo 3", zero + zero: "hi 0 is not above lo 0",
		} {
			var texts []string
			for _, call := range sealedCalls {
				_, err := d.try(`SELECT ` + fmt.Sprintf(call, "x'"+value+suffix+"'"))
				name, _, _ := strings.Cut(call, "(")
				if err == nil || !strings.Contains(err.Error(), want) {
					d.Errorf("%s with %s: %v, want %q", call, suffix, err, want)
					continue
				}
				texts = append(texts, strings.TrimPrefix(err.Error(), name))
			}
			for _, text := range texts {
				if text != texts[0] {
					d.Errorf("%s: %q and %q", suffix, text, texts[0])
				}
			}
		}
		d.refusesValue("dx_sum(%s, 1)", "x'"+value[2:]+"00"+one+ten+"'") // and a value that does not open
		d.refusesValue("dx_sum(%s, 1)", "x'"+value+one+"'")
		d.refusesValue("dx_sum(%s, 1)", "x'"+value+one+ten+one+ten+"'")
	})
	d.answers(`SELECT dx_value(x'`+value+zero+three+`', 100)`, "[[3]]")
}

// Statements that misuse SQL fail, and charge nobody.
func TestAttacksInSQL(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`INSERT INTO other VALUES(1, ` + d.seal.Reading(columnOther, "bo", 7) + `)`)
	const notOurs = ": sealed" + damaged
	moved := `CAST(x'0000000%d' || substr(kwh, 5) AS BLOB)`
	for _, c := range []struct{ attack, query, want string }{
		{"somebody else pays", `SELECT dx_sum('bo', kwh, 1, 'u') FROM s`, "x must be a number, got BLOB"},
		{"nobody pays", `SELECT dx_sum(NULL, kwh, 1, 'u') FROM s`, "must"},
		{"somebody else pays", `SELECT dx_value('bo', kwh, 1, 'u') FROM s`, "x must be a number, got BLOB"},
		{"somebody else pays", `SELECT dx_count('bo', kwh) FROM s`, "epsilon must be a number"},
		{"c*x", `SELECT dx_sum(2 * kwh, 1) FROM s`, "dx_sum: sealed must be a sealed value"},
		{"c*x", `SELECT dx_sum(kwh + 1, 1) FROM s`, "dx_sum: sealed must be a sealed value"},
		{"c*x", `SELECT dx_sum(-kwh, 1) FROM s`, "dx_sum: sealed must be a sealed value"},
		{"c*x", `SELECT dx_sum(CAST(kwh AS TEXT), 1) FROM s`, "dx_sum: sealed must be a sealed value"},
		{"c*x", `SELECT dx_sum(hex(kwh), 1) FROM s`, "dx_sum: sealed must be a sealed value"},
		{"flipped order", `SELECT dx_sum(CAST(substr(kwh, 29) || substr(kwh, 1, 28) AS BLOB), 1) FROM s`, "dx_sum" + notOurs},
		{"two halves", `SELECT dx_sum(CAST(substr(kwh, 1, 16) || substr(one, 17) AS BLOB), 1) FROM s`, "dx_sum" + notOurs},
		{"another column", `SELECT dx_sum(` + fmt.Sprintf(moved, columnOther) + `, 1) FROM s`, "dx_sum" + notOurs},
		{"another column", `SELECT dx_count(` + fmt.Sprintf(moved, columnOne) + `, 1) FROM s`, "dx_count: account" + damaged},
		{"another column", `SELECT dx_centroid(` + fmt.Sprintf(moved, columnPlace) + `, 1) FROM s`, "dx_centroid" + notOurs},
		{"another column", `SELECT dx_sum(` + fmt.Sprintf(moved, 9) + `, 1) FROM s`, "dx_sum" + notOurs},
		{"an account's name", `SELECT dx_sum(CAST(x'00000000' || substr(kwh, 5) AS BLOB), 1) FROM s`, "dx_sum" + notOurs},
		{"an account's name", `SELECT dx_sum(substr(sealed, 1, 56), 1) FROM geosql_sealed_account`, "dx_sum" + notOurs},
		{"another session", `SELECT dx_sum(CAST(substr(kwh, 1, 4) || x'00000001' || substr(kwh, 9) AS BLOB), 1) FROM s`, "dx_sum" + notOurs},
		{"another counter", `SELECT dx_sum(CAST(substr(kwh, 1, 15) || x'ff' || substr(kwh, 17) AS BLOB), 1) FROM s`, "dx_sum" + notOurs},
		{"another universe", `SELECT dx_sum(x, 1) FROM (SELECT kwh AS x FROM s UNION ALL SELECT v FROM other)`, "changes its universe"},
		{"a wide universe", `SELECT dx_sum(dx_narrow(kwh, -5, 100), 1) FROM s`, "is not a value of"},
		{"a wide universe", `SELECT dx_sum(kwh, 1, 'wide') FROM s`, "dx_sum: metric"},
		{"large epsilon", `SELECT dx_sum(kwh, 5e6) FROM s`, "asked"},
		{"large epsilon", `SELECT dx_sum(kwh, 1e300) FROM s`, "epsilon"},
		{"large epsilon", `SELECT dx_sum(kwh, -1) FROM s`, "epsilon"},
		{"large epsilon", `SELECT dx_sum(kwh, 0) FROM s`, "epsilon"},
		{"repeated rows", `SELECT dx_sum(kwh, 1) FROM s JOIN (SELECT 1 AS n UNION ALL SELECT 2)`, "the same value more than once"},
		{"repeated rows", `SELECT dx_sum(kwh, 1) FROM (SELECT kwh FROM s UNION ALL SELECT kwh FROM s)`, "the same value more than once"},
		{"repeated rows", `WITH RECURSIVE c(i, x) AS (SELECT 1, kwh FROM s UNION ALL SELECT i + 1, x FROM c WHERE i < 3) SELECT dx_sum(x, 1) FROM c`, "the same value more than once"},
		{"repeated rows", `SELECT dx_sum(dx_narrow(kwh, 0, 10), 1) FROM s JOIN (SELECT 1 AS n UNION ALL SELECT 2)`, "the same value more than once"},
		{"as a window", `SELECT dx_sum(kwh, 1) OVER (ORDER BY id) FROM s`, "may not be used as a window function"},
	} {
		d.unharmed(func() {
			if _, err := d.try(c.query); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "ana") && c.want != "asked" {
				t.Errorf("%s: %s\n%v, want %q", c.attack, c.query, err, c.want)
			}
		})
	}
}

// Ciphertexts tell nothing: those of equal readings are different, all are as long, and they
// come in no order.
func TestCiphertextsTellNothing(t *testing.T) {
	var rows []sealedRow
	for i := range 400 {
		rows = append(rows, sealedRow{"ana", 1, int64(i / 200 * 10), int64(i % 2), 40, 116})
	}
	d := newSealed(t, rows)
	d.answers(`SELECT count(DISTINCT kwh), count(DISTINCT place), count(DISTINCT substr(kwh, 17)), min(length(kwh)), max(length(kwh)), max(length(place)) FROM s`, "[[400 400 400 56 56 56]]")
	// Each bit of the ciphertext is 1 in half of the 200 values of 0, and of 10: 100 +- 50 is
	// missed by any of 640 bits with a probability below 2e-9.
	for _, half := range []string{"id <= 200", "id > 200"} {
		var ones [320]int
		for _, row := range d.rows(`SELECT hex(substr(kwh, 17)) FROM s WHERE ` + half) {
			b, err := hex.DecodeString(row[0].(string))
			if err != nil {
				t.Fatal(err)
			}
			for i := range ones {
				ones[i] += int(b[i/8] >> (i % 8) & 1)
			}
		}
		for i, n := range ones {
			if n < 50 || n > 150 {
				t.Errorf("bit %d is 1 in %d of 200 values", i, n)
			}
		}
	}
}

// A value opens in its own database only, also under the same key.
func TestValuesOfOtherDatabases(t *testing.T) {
	d := newSealed(t, sealedRows)
	e := sealRows(t, t.TempDir()+"/other.db", d.key, sealedRows)
	for _, c := range e.collectors() { // collectors enrolled in both
		d.record(catalog.Collector{Name: "of the other", Verify: c.Verify}.Fact())
	}
	d.unharmed(func() { d.refusesValue("dx_sum(%s, 1)", e.seal.Reading(columnKWh, "ana", 3)) })
	// With its session and accounts copied, too.
	for _, table := range []string{"geosql_sealed_session", "geosql_sealed_account"} {
		for _, row := range e.rows(`SELECT * FROM ` + table) {
			if _, err := d.try(`INSERT INTO `+table+` VALUES(?`+strings.Repeat(", ?", len(row)-1)+`)`, row...); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.unharmed(func() { d.refusesValue("dx_sum(%s, 1)", e.seal.Reading(columnKWh, "ana", 3)) })
	// A copy of the tables over those of another database is not that database either.
	if _, err := e.try(`UPDATE geosql_sealed SET id = ?`, d.value(`SELECT id FROM geosql_sealed`)); err != nil {
		t.Fatal(err)
	}
	again := e.again()
	again.fails(`SELECT dx_sum(kwh, 1) FROM s`, "the ledger is not that of this sealed database")
}

// A session opens nothing unless a collector that the owner has enrolled has signed it: not a forged row of an
// enrolled collector, one that a stranger has signed, or one that was changed.
func TestForgedSessionsInSQL(t *testing.T) {
	stranger := sealedtest.NewKey(t)
	d := newSealed(t, sealedRows)
	forged := d.stranger(d.database, stranger)
	value := forged.Reading(columnKWh, "eve", 9)
	d.unharmed(func() { d.refusesValue("dx_value(%s, 1)", value) })
	// Under the name of the enrolled one.
	d.run(`UPDATE geosql_sealed_session SET signer = (SELECT signer FROM geosql_sealed_session s WHERE s.rowid IS NOT geosql_sealed_session.rowid)
		WHERE signer = ` + fmt.Sprintf("x'%x'", []byte(stranger.Public().Verifier())))
	d.unharmed(func() { d.refusesValue("dx_value(%s, 1)", value) })
	again := d.again()
	again.refusesValue("dx_value(%s, 1)", value)
	again.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	// With the signature of the enrolled one, and then with its whole session under another key.
	d.run(`UPDATE geosql_sealed_session SET signature = (SELECT max(signature) FROM geosql_sealed_session), enc = (SELECT min(enc) FROM geosql_sealed_session)`)
	third := d.again()
	third.refusesValue("dx_value(%s, 1)", value)
}

// Refusals depend on public things: the account with a used up budget, and the earlier questions. So in two
// databases with other secrets they are the same, and so is the rest of the budget.
func TestRefusalsAreNoOracle(t *testing.T) {
	texts := map[string]bool{}
	for _, kwh := range []int64{0, 5, 10} {
		rows := []sealedRow{{"ana", 1, kwh, kwh / 10, 39.9, 116.3}, {"bo", 2, 10 - kwh, 1 - kwh/10, 40, 116}}
		d := newSealed(t, rows)
		d.run(`SELECT budget_limit('ana', 'kWh', 2.5), budget_limit('ana', 'record', 2)`)
		var shown []string
		for _, query := range []string{
			`SELECT dx_sum(kwh, 1) FROM s`, `SELECT dx_max(kwh, 1) FROM s`, `SELECT dx_sum(kwh, 1) FROM s`, `SELECT dx_value(kwh, 0.75) FROM s`, `SELECT dx_value(kwh, 0.5) FROM s WHERE zone = 1`,
			`SELECT dx_count(one, 1.5) FROM s`, `SELECT dx_count(one, 1.5) FROM s`, `SELECT dx_accounts(one, 1.5) FROM s`,
		} {
			rows, err := d.try(query)
			shown = append(shown, fmt.Sprint(len(rows), err))
		}
		texts[strings.Join(shown, "\n")+d.state()] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d different lists of refusals: %v", len(texts), texts)
	}
}

// Ciphertexts that somebody has kept are erased with their account: in another table, copied
// into a statement, or in another copy of the database with the owner's ledger.
func TestKeptCiphertextsAreErased(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`CREATE TABLE kept AS SELECT kwh FROM s`, `ATTACH ':memory:' AS elsewhere`, `CREATE TABLE elsewhere.kept AS SELECT kwh FROM s`)
	literal := fmt.Sprintf("x'%v'", d.value(`SELECT hex(kwh) FROM s WHERE id = 1`))
	d.answers(`SELECT dx_value(`+literal+`, 100)`, "[[3]]")
	d.record(catalog.Erased("ana"))
	d.run(`DELETE FROM s WHERE id < 4`)
	for _, table := range []string{"kept", "elsewhere.kept"} {
		d.answers(`SELECT dx_sum(kwh, 100) FROM `+table, "[[11]]")
	}
	d.answers(`SELECT dx_value(`+literal+`, 100), dx_sum(dx_narrow(`+literal+`, 0, 5), 100)`, "[[<nil> <nil>]]")
}
