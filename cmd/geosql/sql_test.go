package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

const valuesSQL = `SELECT 1 AS n, 'a,b' AS "the text", NULL AS missing, 1e300*0 AS zero;
	CREATE TABLE t(a, b);
	INSERT INTO t VALUES (1, 'plain'), (-2.5, 'say "x"'), (1e21, ''), (1.5e-7, NULL), (NULL, x'00ff'), (9e999, 'two
lines'), (9007199254740993, 'é' || char(9) || char(27));
	SELECT * FROM t;
	SELECT * FROM t WHERE 0;`

func TestGoldenOutput(t *testing.T) {
	for mode, want := range map[string]string{
		"-csv": `n,the text,missing,zero
1,"a,b",,0
a,b
1,plain
-2.5,"say ""x"""
1000000000000000000000,""
0.00000015,
,00FF
Inf,"two
lines"
9007199254740993,é` + "\t\x1b" + `
a,b
`,
		"-json": `[{"n":1,"the text":"a,b","missing":null,"zero":0}]
[{"a":1,"b":"plain"},
{"a":-2.5,"b":"say \"x\""},
{"a":1000000000000000000000,"b":""},
{"a":0.00000015,"b":null},
{"a":null,"b":"00FF"},
{"a":null,"b":"two\nlines"},
{"a":9007199254740993,"b":"é\t\u001b"}]
[]
`,
		"-table": `n  the text  missing  zero
-  --------  -------  ----
1  a,b                   0

                     a  b
----------------------  ----------
                     1  plain
                  -2.5  say "x"
1000000000000000000000
            0.00000015
                        00FF
                   Inf  two\nlines
      9007199254740993  é\t\x1b

a  b
-  -
`,
	} {
		if got := clitest.Query(t, mode, ":memory:", valuesSQL); got != want {
			t.Errorf("%s printed\n%s\nwant\n%s", mode, got, want)
		}
	}
	if clitest.Query(t, ":memory:", valuesSQL) != clitest.Query(t, "-table", ":memory:", valuesSQL) {
		t.Error("table is not the default")
	}
}

func TestDuplicateColumnNames(t *testing.T) {
	const sql = "SELECT 1 AS a, 2 AS a"
	if got := clitest.Query(t, "-csv", ":memory:", sql); got != "a,a\n1,2\n" {
		t.Errorf("csv: %q", got)
	}
	if got := clitest.Query(t, "-json", ":memory:", sql); got != `[{"a":1,"a":2}]`+"\n" {
		t.Errorf("json: %q", got)
	}
}

func TestStandardInput(t *testing.T) {
	script := "-- a comment\nCREATE TABLE t(a);\n" +
		"INSERT INTO t VALUES (1); INSERT INTO t\n VALUES (2);\n" +
		"CREATE TRIGGER r AFTER INSERT ON t BEGIN\n UPDATE t SET a = 3;\n UPDATE t SET a = a;\nEND;\n" +
		"SELECT ';' AS s,\n count(*) AS n FROM t;\n/* the last\n has no end; */ SELECT 4 AS four"
	r := clitest.Run(t, script, "-csv", ":memory:")
	if want := "s,n\n;,2\nfour\n4\n"; r.Out != want || r.Err != "" || r.Status != 0 {
		t.Errorf("%+v, want %q", r, want)
	}
	for _, empty := range []string{"", "\n", ";;", "-- nothing", "/* nothing */\n\n"} {
		if r := clitest.Run(t, empty, ":memory:"); r != (clitest.Result{}) {
			t.Errorf("script %q: %+v", empty, r)
		}
	}
	if r := clitest.Run(t, "SELECT 1;", ":memory:", ""); r != (clitest.Result{}) {
		t.Errorf("empty SQL: %+v", r)
	}
}

func TestTransactionSpansStatements(t *testing.T) {
	const sql = "CREATE TABLE t(a);\nBEGIN;\nINSERT INTO t VALUES (1);\nSELECT count(*) AS n FROM t;\nROLLBACK;\nSELECT count(*) AS n FROM t;"
	const want = "n\n1\nn\n0\n"
	if got := clitest.Query(t, "-csv", ":memory:", sql); got != want {
		t.Errorf("argument: %q", got)
	}
	if r := clitest.Run(t, sql, "-csv", ":memory:"); r.Out != want {
		t.Errorf("standard input: %+v", r)
	}
}

func TestFirstErrorStops(t *testing.T) {
	const sql = "CREATE TABLE t(a);\nSELECT 1 AS a;\nSELECT nosuch;\nINSERT INTO t VALUES (1);\n"
	for _, stdin := range []bool{false, true} {
		db := clitest.TempFile(t, "x.db")
		var r clitest.Result
		if stdin {
			r = clitest.Run(t, sql, "-csv", db)
		} else {
			r = clitest.Run(t, "", "-csv", db, sql)
		}
		clitest.WantError(t, r, 1, "no such column: nosuch")
		if r.Out != "a\n1\n" {
			t.Errorf("rows before the error: %q", r.Out)
		}
		if got := clitest.Query(t, "-csv", db, "SELECT count(*) FROM t"); got != "count(*)\n0\n" {
			t.Errorf("a statement after the error ran: %q", got)
		}
	}
}

// An error in the middle of a statement follows the rows that were delivered.
const failsAtRow3 = "SELECT CASE WHEN value < 3 THEN value ELSE abs(-9223372036854775808) END AS v FROM json_each('[1,2,3]')"

func TestRowsPrecedeTheError(t *testing.T) {
	for mode, rows := range map[string]string{
		"-csv":   "v\n1\n2\n",
		"-json":  "[{\"v\":1},\n{\"v\":2}\n",
		"-table": "v\n-\n1\n2\n",
	} {
		cmd := clitest.Command(t, mode, ":memory:", failsAtRow3)
		both, err := cmd.CombinedOutput()
		if clitest.ExitStatus(t, err) != 1 || string(both) != rows+"geosql: integer overflow\n" {
			t.Errorf("%s: %q", mode, both)
		}
	}
	r := clitest.Run(t, "", "-csv", ":memory:", "SELECT abs(-9223372036854775808) AS v")
	if clitest.WantError(t, r, 1, "integer overflow"); r.Out != "" {
		t.Errorf("an error before the first row left %q", r.Out)
	}
}

func TestNulIsAnError(t *testing.T) {
	clitest.WantError(t, clitest.Run(t, "SELECT 1;\x00SELECT 2;\n", ":memory:"), 1, "NUL")
}

func TestLongTable(t *testing.T) {
	out := clitest.Query(t, ":memory:", `WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 10000)
		SELECT x, 'r' || x AS r FROM c`)
	lines := strings.Split(out, "\n")
	if len(lines) != 10003 || lines[2] != "   1  r1" || lines[10001] != "10000  r10000" {
		t.Errorf("%d lines, %q, %q", len(lines), lines[2], lines[10001])
	}
}

func TestReaderThatLeaves(t *testing.T) {
	cmd := clitest.Command(t, "-csv", ":memory:", "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) SELECT x FROM c")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	out.Close()
	if status := clitest.ExitStatus(t, cmd.Wait()); status != 0 || errOut.Len() > 0 {
		t.Errorf("status %d, %q", status, errOut.String())
	}
}

const endless = "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) "

// started runs statements on standard input and returns once one of them has answered. The last
// does not end. They print nothing, which wait checks.
func started(t *testing.T, errOut io.Writer, script string, args ...string) (process *os.Process, wait func() (status int)) {
	t.Helper()
	cmd := clitest.Command(t, append([]string{"-csv"}, args...)...)
	cmd.Stderr = errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "SELECT 1 AS first;\n"+script); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // lets the statement run; it may also be hit earlier
	return cmd.Process, func() int {
		t.Helper()
		defer in.Close()
		if rest, err := io.ReadAll(answers); string(rest) != "1\n" || err != nil {
			t.Errorf("below the heading of the first answer there is %q, %v", rest, err)
		}
		return clitest.ExitStatus(t, cmd.Wait())
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		if !clitest.Sends(signal) {
			continue
		}
		for name, script := range map[string]string{"statement": endless + "SELECT count(*) FROM c;\n", "input": "SELECT"} {
			var errOut bytes.Buffer
			process, wait := started(t, &errOut, script, ":memory:")
			if err := clitest.Signal(process, signal); err != nil {
				t.Fatal(err)
			}
			if status := wait(); status != want || errOut.String() != "geosql: interrupted\n" {
				t.Errorf("%v at %s: status %d, %q", signal, name, status, errOut.String())
			}
		}
	}
}

// Ctrl-C returns the reservations that a statement has not used.
func TestInterruptClosesTheLedger(t *testing.T) {
	t.Parallel()
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, "SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT budget_limit('ana', 'm', 1000)")
	process, wait := started(t, io.Discard, endless+"SELECT max(length(geoind_laplace('ana', 48.85, 2.35, 0.000001))) FROM c;\n",
		"--no-preflight", db)
	const sql = "SELECT spent > 0, reserved FROM ledger_balance WHERE account = 'ana'"
	for strings.HasSuffix(clitest.Query(t, "-csv", db, sql), "\n0,0\n") { // it has not begun
	}
	if err := clitest.Signal(process, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := wait(); status != 130 {
		t.Errorf("status %d", status)
	}
	if got := clitest.Query(t, "-csv", db, sql); !strings.HasSuffix(got, "\n1,0\n") {
		t.Errorf("spent > 0, reserved: %s", got)
	}
}

func TestLedgerFlag(t *testing.T) {
	db, ledger := clitest.TempFile(t, "x.db"), clitest.TempFile(t, "my ledger")
	clitest.Query(t, db, "--ledger", ledger, "SELECT budget_limit('ana', 'm', 1)")
	if _, err := os.Stat(ledger); err != nil {
		t.Error(err)
	}
	if got := clitest.Run(t, "", "-csv", "--ledger="+ledger, "budget", db); !strings.Contains(got.Out, "\nana,m,1,0,0,1,") {
		t.Errorf("balance %+v", got)
	}
}

// A line of many statements, and a statement of many lines, are read once.
func TestLongScripts(t *testing.T) {
	t.Parallel()
	fuzztest.Limit(t, time.Minute)
	const statements = 500_000
	line := strings.Repeat("SELECT 1;", statements) + strings.Repeat(";", 2<<20) + "\n"
	lines := "SELECT length('" + strings.Repeat(";\n", 2<<20) + "') AS n;\n"
	r := clitest.Run(t, line+lines, "-csv", clitest.TempFile(t, "a.db"))
	if want := strings.Repeat("1\n1\n", statements) + fmt.Sprintf("n\n%d\n", 4<<20); r.Status != 0 || r.Out != want {
		t.Errorf("exit status %d, %d bytes: %.100s %.100s", r.Status, len(r.Out), r.Out, r.Err)
	}
}
