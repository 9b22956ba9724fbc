package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/shell"
	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestShell(t *testing.T) {
	t.Parallel()
	c := newConsole(t, clitest.TempFile(t, "x.db"))
	c.expect(shell.Prompt)
	c.run("CREATE TABLE t(a);", "")
	c.press("INSERT INTO t\r")
	c.expect(shell.Continuation)
	c.run("VALUES (7);", "")
	c.run("SELECT a AS answer FROM t;", "answer\n------\n     7\n")
	c.press("\r") // nothing to run
	c.expect(shell.Prompt)

	c.press("SELECT 'dropped\r")
	c.expect(shell.Continuation)
	c.press("more\x03")
	c.expect("more^C\n" + shell.Prompt)
	c.run("SELECT 'ke' || 'pt' AS it;", "it\n----\nkept\n")

	c.press(endless + "SELECT x FROM c WHERE x < 100000;\r") // and nothing any more
	c.expect("\n50000\n")
	c.press("\x03")
	c.expect("geosql: interrupted\n" + shell.Prompt)
	c.press("\x04")
	c.leave(0)
}

// Typed and pasted text stays in the history, each statement as a whole, also for a shell that begins while
// another one runs.
func TestShellHistory(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.press("SELECT 'one' AS a,\r")
	c.expect(shell.Continuation)
	c.run("  'two' AS b;", "a    b\n---  ---\none  two\n")
	c.run("SELECT 'a\\nb' AS c;", "c\n----\na\\nb\n")
	c.press("SELECT 'secret';\x03")
	c.expect("^C\n" + shell.Prompt)

	text, err := os.ReadFile(c.historyFile())
	if err != nil {
		t.Fatal(err)
	}
	if want := "SELECT 'one' AS a,\\n  'two' AS b;\nSELECT 'a\\\\nb' AS c;\n"; string(text) != want {
		t.Errorf("history %q, want %q", text, want)
	}
	for file, mode := range map[string]os.FileMode{c.historyFile(): 0o600, filepath.Dir(c.historyFile()): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v", file, info.Mode(), err)
		}
	}

	second := newConsoleWith(t, []string{"XDG_STATE_HOME=" + c.state}, ":memory:")
	second.expect(shell.Prompt)
	second.press("\x1b[A") // the last entry
	second.expect("SELECT 'a\\nb' AS c;")
	second.press("\r")
	second.expect("a\\nb\n" + shell.Prompt)
	second.press("\x12tw") // Ctrl-R
	second.expect("SELECT 'one' AS a,\n")
	second.press("\r")
	second.expect("one  two\n" + shell.Prompt)
	second.press("\x04")
	second.leave(0)
	c.press("\x04")
	c.leave(0)
}

// Statements and commands that are pasted run when Enter is pressed, as far as the first error.
func TestShellPaste(t *testing.T) {
	const lines = `CREATE TABLE p(a, b);
INSERT INTO p VALUES (1, 2);
INSERT INTO p
  VALUES (3, 4);
.mode csv
SELECT * FROM p;
-- the sum; of both
SELECT sum(a) AS s
  FROM p;
.mode table
SELECT 'end' AS x;`
	const answers = "a,b\n1,2\n3,4\ns\n4\nx\n---\nend\n"
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.paste(lines + "\n")
	c.expect("SELECT 'end' AS x;\n")
	c.press("\r")
	c.expect(answers + shell.Prompt)

	// A terminal that does not mark pasted text types it.
	c.run("DROP TABLE p;", "")
	c.press(strings.ReplaceAll(lines, "\n", "\r") + "\r")
	for _, part := range []string{"a,b\n1,2\n3,4\n" + shell.Prompt, "s\n4\n" + shell.Prompt, "x\n---\nend\n" + shell.Prompt} {
		c.expect(part)
	}

	c.paste("SELECT 1 AS a;\nSELECT 2 FROM nowhere;\nSELECT 3 AS c;\n.quit")
	c.press("\r")
	c.expect("a\n-\n1\ngeosql: no such table: nowhere\ngeosql: the statements after it were not run (2 of 4)\n" + shell.Prompt)
	c.press("\x04")
	c.leave(0)
}

// An error that SQLite can place has a caret.
func TestShellCaret(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.run("SELECT * FORM t;", "geosql: near \"FORM\": syntax error\n  SELECT * FORM t;\n           ^\n")
	c.run("SELECT nosuch;", "geosql: no such column: nosuch\n  SELECT nosuch;\n         ^\n")
	c.press("SELECT 1,\r")
	c.expect(shell.Continuation)
	c.run("'\u00e4', wrong;", "geosql: no such column: wrong\n  '\u00e4', wrong;\n       ^\n")
	c.run("SELECT 1; SELECT 2 +;", "1\n-\n1\ngeosql: near \";\": syntax error\n   SELECT 2 +;\n             ^\n")
	c.run("SELECT json('{');", "geosql: malformed JSON\n") // a running statement has no place
	c.press("\x04")
	c.leave(0)
}

// Tab completes commands, keywords, tables, columns, functions and declared names.
func TestShellCompletes(t *testing.T) {
	t.Parallel()
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.run("CREATE TABLE trip(person, latitude REAL, longitude REAL); CREATE TABLE other(lath);", "")
	c.run(".mode csv", "")
	c.press("SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1) AS d, dx_universe('halfhour', 0, 10, 1, 'kWh') AS u;\r")
	c.expect(" values\"\n" + shell.Prompt)
	c.run(".mode table", "")
	for typed, want := range map[string]string{
		"sele\t":                                                "select",
		"SELECT max(x) FR\t":                                    "SELECT max(x) FROM",
		"SELECT lati\t":                                         "SELECT latitude",
		"SELECT * FROM tri\t":                                   "SELECT * FROM trip",
		"SELECT t.per\x1b[D\x1b[C\t":                            "SELECT t.per", // t is no table here
		"SELECT 1 FROM trip AS t WHERE t.per\t":                 "SELECT 1 FROM trip AS t WHERE t.person",
		"SELECT geoind_laplace_\t":                              "SELECT geoind_laplace_l1(",
		"SELECT dx_value(person, latitude, 1, 'h\t":             "SELECT dx_value(person, latitude, 1, 'halfhour'",
		"SELECT 1 FROM trip, geoind_laplace('a', 1, 2, 3, 'c\t": "SELECT 1 FROM trip, geoind_laplace('a', 1, 2, 3, 'city'",
		"SELECT * FROM geosql_\t":                               "SELECT * FROM geosql_", // the tables of declarations are hidden
		".mod\t":                                                ".mode",
		".mode js\t":                                            ".mode json",
		".schema ot\t":                                          ".schema other",
	} {
		c.press(typed)
		c.expect(want)
		c.press("|\x03") // the next typed character stands right behind it
		c.expect("|^C\n" + shell.Prompt)
	}
	c.press("SELECT * FROM trip WHERE l\t") // columns of the table that is named, before functions
	c.shows("latitude  longitude")
	// While a list is open the editor asks the terminal where the cursor is, and loses keys that
	// arrive together with the answer: only hands as fast as a test's notice.
	check(t, c.cmd.Process.Signal(syscall.SIGTERM))
	c.leave(143)
}

// A terminal tells NULL from an empty text, shortens huge numbers and turns wide tables.
func TestShellTables(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.run("SELECT NULL AS a, '' AS b, 1e300 AS c, 0.1 AS d, -9223372036854775807 AS e;",
		"a     b       c    d                     e\n----  -  ------  ---  --------------------\nNULL     1e+300  0.1  -9223372036854775807\n")
	c.run(".nullvalue '-'", "")
	c.run("SELECT NULL AS a;", "a\n-\n-\n")
	c.run(".nullvalue ''", "")
	c.run("SELECT NULL AS a;", "a\n-\n\n")
	c.run(".nullvalue", "geosql: .nullvalue: needs an argument: .nullvalue TEXT\n")
	c.run("SELECT 1 AS id, printf('%.100c', 'x') AS long, 'y' AS b, 'and more' AS last, 0.5 AS n;",
		"  id = 1\nlong = "+strings.Repeat("x", 100)+"\n   b = y\nlast = and more\n   n = 0.5\n")
	c.run(".mode line", "")
	c.run("SELECT 1 AS a, 2 AS bcd UNION SELECT 3, NULL;", "  a = 1\nbcd = 2\n\n  a = 3\nbcd =\n")
	c.run(".mode", "line\n")
	c.run(".mode csv", "")
	c.run("SELECT NULL AS a, '' AS b, 1e25 AS c;", "a,b,c\n,\"\",10000000000000000000000000\n")
	c.run(".mode nosuch", "geosql: nosuch: no such mode; the modes are box, csv, geojson, json, line, list, markdown, raw, table\n")
	c.press("\x04")
	c.leave(0)
}

// A table on a terminal says how far from the truth answers may be, where the law tells, and not in other modes. Noise is 0 at this epsilon,
// but with a probability below e^-49.
func TestShellShowsIntervals(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.run("CREATE TABLE r AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i AS x, i % 2 AS g FROM n;", "")
	c.run("SELECT dx_universe('u', 0, 1000, 1, 'kWh') IS NULL AS a, budget_limit('*', 'kWh', 9000) IS NULL AS b;", "a  b\n-  -\n0  0\n")
	c.run(".confirm off", "")
	const ask = "SELECT g, dx_sum(g, x, 100, 'u') AS s, dx_avg(g, x, 100, 'u') AS a, dx_stddev(g, x, 10, 'u') > 0 AS v FROM r GROUP BY g;"
	const charged = "charged 210/kWh to each of 2 accounts, "
	c.run(ask, "g         s               a  v\n-  --------  --------------  -\n0  2550 ± 0  51 ± 0.0000001  1\n1  2500 ± 0  50 ± 0.0000001  1\n"+
		"± says how far from the truth an answer may be, with probability 0.95\n"+charged+"8790 left; 2 groups cost once\n")
	c.run(".mode csv", "")
	c.run(ask, "g,s,a,v\n0,2550,51,1\n1,2500,50,1\n"+charged+"8580 left; 2 groups cost once\n")
	c.press("\x04")
	c.leave(0)
}

// The commands of the shell, with wrong turns.
func TestShellCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, out := filepath.Join(dir, "in.sql"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(script, []byte("SELECT 1 AS one;\nSELECT nope;\nSELECT 2;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newConsole(t, filepath.Join(dir, "x.db"))
	c.expect(shell.Prompt)
	c.press("CREATE TABLE t(a); CREATE VIEW v AS SELECT 1; SELECT budget_limit('*', 'm', 1) AS d,\r")
	c.press("geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1) AS e;\r")
	c.expect("largest sensible epsilon 0.1/m\n" + shell.Prompt)
	c.run(".tables", "type   name\n-----  ----\ntable  t\nview   v\n")
	c.run(".tables v%", "type  name\n----  ----\nview  v\n")
	c.run(".schema", "name  sql\n----  -------------------------\nt     CREATE TABLE t(a)\nv     CREATE VIEW v AS SELECT 1\n")
	c.run(".schema T", "name  sql\n----  -----------------\nt     CREATE TABLE t(a)\n")
	c.press(".schema geosql_ledger\r") // hidden, and shown when asked for
	c.expect("CREATE TABLE geosql_ledger(")
	c.expect(shell.Prompt)
	c.run(".nosuch", "geosql: .nosuch: no such command; .help lists them\n")
	c.run(".quit now", "geosql: .quit: takes no argument\n")
	c.run(".timer often", "geosql: often: .timer is on or off\n")
	c.run(".timer on", "")
	c.press("SELECT 1 AS a;\r")
	c.expect("a\n-\n1\n")
	c.expect(" s\n" + shell.Prompt)
	c.run(".timer off", "")
	c.run(".mode csv", "")
	c.run(".cost SELECT geoind_laplace('ana', 48.85, 2.3, 0.01);",
		"geosql: all accounts can pay that\nunit,epsilon,accounts,total,left,short,rule\nm,0.01,1,0.01,0.99,0,\n")
	c.run(".cost", "geosql: .cost: needs an argument: .cost SQL\n")
	c.press("SELECT geoind_laplace('ana', 48.85, 2.3, 0.01) AS z;\r")
	c.expect("z\nPOINT(")
	c.expect(shell.Prompt)
	c.press(".budget ana\r")
	c.expect("\nana,m,1,0.01,0,0.99,")
	c.expect(shell.Prompt)

	c.run(".output "+out, "")
	c.run("SELECT NULL AS a, 'x' AS b;", "")
	c.run(".output "+out, "geosql: "+out+" exists; .output writes a new file\n")
	c.run("SELECT 2 AS a;", "")
	c.run(".output", "")
	c.run("SELECT 3 AS a;", "a\n3\n")
	if text, err := os.ReadFile(out); err != nil || string(text) != "a,b\n,x\na\n2\n" {
		t.Errorf("output %q, %v", text, err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("output has mode %v, %v", info.Mode(), err)
	}
	c.run(".read "+script, "one\n1\ngeosql: no such column: nope\n  SELECT nope;\n         ^\n")
	c.run(".read nosuch.sql", "geosql: nosuch.sql: no such file or directory\n")
	c.run(".read "+dir, "geosql: "+dir+" is a directory\n")
	c.press(".help\r")
	c.expect(".budget [ACCOUNT]")
	c.expect(".timer on|off")
	c.expect(shell.Prompt)
	c.press(".quit\r")
	c.leave(0)
}

// Commands of other shells do as people mean, also as an argument of the command line. A file of commands runs first.
func TestShellObeysHabits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "x.db")
	clitest.Query(t, db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL); SELECT budget_limit('*', 'm', 0.05), budget_limit('*', 'kWh', 2, 86400)")
	if err := os.MkdirAll(filepath.Join(dir, "geosql"), 0o700); err != nil {
		t.Fatal(err)
	}
	rc := writeTo(t, filepath.Join(dir, "geosql", "rc"), "-- as I like it\n.mode box\n\nSELECT 1;\n")
	c := newConsoleWith(t, []string{"XDG_CONFIG_HOME=" + dir}, db)
	c.expect("x.db: limits of every account 0.05/m, 2/kWh in 86400 s\n")
	c.expect("geosql: " + rc + ", line 4: not a command such as .mode box: SELECT 1;\n" + shell.Prompt)
	c.run(`\d`, "┌───────┬──────┐\n│ type  │ name │\n├───────┼──────┤\n│ table │ t    │\n└───────┴──────┘\n")
	c.run(".mode list", "")
	c.run(`\d T`, "a|INTEGER|primary key\nb|TEXT|not null\n")
	c.run(`\d tt;`, "geosql: there is no table tt (did you mean t?)\n")
	c.run(`\nosuch`, "geosql: \\nosuch: no such command; .help lists them\n")
	c.run(".help timer", ".timer on|off      print how long each statement takes\n")
	c.run(".help dx_avgg", "geosql: there is no command or function dx_avgg (did you mean dx_avg?)\n")
	c.press(".help dx_radius\r")
	c.expect("dx_radius(")
	c.expect(shell.Prompt)
	c.run(".mode csv", "")
	c.run(".header off", "")
	c.run("SELECT 1 AS a;", "1\n")
	c.press("quit\r")
	c.leave(0)
	for _, end := range []string{`\q`, "exit;", "QUIT"} {
		c := newConsole(t, ":memory:")
		c.expect("in memory: no limits yet, which budget_limit sets\n" + shell.Prompt)
		c.press(end + "\r")
		c.leave(0)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("there is %v", left)
	}
	if got := clitest.Query(t, "-csv", db, ".columns t"); got != "name,type,rule\na,INTEGER,primary key\nb,TEXT,not null\n" {
		t.Errorf(".columns writes %q", got)
	}
	if got := clitest.Query(t, "-box", "-noheader", db, ".tables"); got != "┌───────┬───┐\n│ table │ t │\n└───────┴───┘\n" {
		t.Errorf(".tables writes %q", got)
	}
	clitest.WantError(t, clitest.Run(t, "", db, `\d tt`), 1, "no table tt")
}

// A long answer goes to the pager, which may be left before the end. A statement ends with it.
func TestShellPager(t *testing.T) {
	t.Parallel()
	c := newConsoleWith(t, []string{"PAGER=echo in the pager; head -n 3 #"}, ":memory:")
	c.expect(shell.Prompt)
	c.run("SELECT 1 AS a;", "a\n-\n1\n")
	c.press(endless + "SELECT x FROM c LIMIT 40;\r")
	c.expect("in the pager\n x\n--\n 1\n" + shell.Prompt)
	c.press(endless + "SELECT x FROM c;\r")
	c.expect("in the pager\n   x\n----\n   1\n" + shell.Prompt)
	c.run("SELECT 'still' AS here;", "here\n-----\nstill\n")
	c.press("\x04")
	c.leave(0)

	for _, none := range []string{"PAGER=", "PAGER=/nonexistent/pager"} {
		c := newConsoleWith(t, []string{none}, ":memory:")
		c.expect(shell.Prompt)
		c.press(endless + "SELECT x FROM c LIMIT 40;\r")
		c.expect("39\n40\n" + shell.Prompt)
		c.press("\x04")
		c.leave(0)
	}
}

// A statement that takes long shows how far it is, on a line that goes away.
func TestShellProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newConsole(t, "--no-preflight", filepath.Join(dir, "x.db"))
	c.expect(shell.Prompt)
	c.run(".mode csv", "")
	c.press("SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1) AS a, budget_limit('*', 'm', 1000000) AS b;\r")
	c.expect("1000000/m\n" + shell.Prompt)
	c.run(".output "+filepath.Join(dir, "out"), "")
	c.press(endless + "SELECT geoind_laplace('ana', 48.85, 2.3, 0.01) AS z FROM c;\r")
	c.expect("FROM c;\n")
	c.shows(" s, ")
	c.shows(" rows, ")
	c.shows("/m charged")
	c.press("\x03")
	c.expect("geosql: interrupted, after charging ")
	c.expect("\n" + shell.Prompt)
	c.press("\x04")
	c.leave(0)
	if shown := c.shown(); strings.Contains(shown, "rows, ") {
		t.Errorf("the progress is still there: %q", shown)
	}
}

// A terminal that does not say where its cursor is does not stop the shell.
func TestShellOnSilentTerminal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"xterm", "dumb"} {
		c := newSilentConsole(t, name)
		c.press("SELECT 'typed ahead' AS a;\r")
		c.expect("typed ahead\n" + shell.Prompt)
		c.run("SELECT 1 AS a;", "a\n-\n1\n")
		c.press("\x04")
		c.leave(0)
	}
}

func TestShellQuits(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	c.press(".quit\r")
	c.leave(0)
}

// Invisible characters that are typed are echoed visibly, also from the history, and the text runs
// as it was typed.
func TestShellEchoSteersNothing(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	for _, key := range []string{"SELECT 'a\u202eb\u200b' AS typed;\r", "\x1b[A\r"} {
		c.press(key)
		c.expect("SELECT 'a\ufffdb\ufffd' AS typed;")
		c.expect(`a\u202eb\u200b` + "\n" + shell.Prompt)
	}
	c.press("SELECT '\u009b2J';\r")
	c.expect("SELECT '\ufffd2J';")
	c.expect(shell.Prompt)
	c.press(".quit\r")
	c.leave(0)
}

// A signal from elsewhere finds the terminal raw and leaves it as it was.
func TestShellIsTerminated(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(shell.Prompt)
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil { // not from the keyboard: ignored
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // lets it arrive before a statement runs
	c.press("SELECT 1;\r")             // which it may end if it is late
	c.expect(shell.Prompt)
	c.press("SELECT 'he' || 're';\r")
	c.expect("here\n")
	c.expect(shell.Prompt)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.expect("geosql: interrupted")
	c.leave(143)
}

func TestImportReportsToTerminal(t *testing.T) {
	c := newConsole(t, "import", clitest.TempFile(t, "x.db"), "t", clitest.WriteFile(t, "a\n1\n2\n"))
	c.expect("imported 2 rows into table t")
	c.expect("  a  INTEGER\n")
	c.leave(0)
}

// The shell says the price of a statement, and asks before it charges more than a tenth of a remaining budget.
func TestShellSaysPrices(t *testing.T) {
	c := newConsole(t, scarce(t))
	c.expect(shell.Prompt)
	c.run(".mode csv", "")
	const of = "SELECT dx_value('bo', 1, %s, 'u') IS NULL AS z;"
	c.run(fmt.Sprintf(of, "0.1"), "z\n0\ncharged 0.1/kWh to 1 account, 0.9 left\n") // a tenth
	ask := "This charges 0.1/kWh to 1 account, 0.8 left. Run it? [y/N] "
	for _, no := range []string{"n\r", "\r", "\x03"} {
		c.press(fmt.Sprintf(of, "0.1") + "\r")
		c.expect(ask)
		c.press(no)
		c.expect(shell.Prompt)
	}
	c.press(fmt.Sprintf(of, "0.1") + "\r")
	c.expect(ask)
	c.press("yes\r")
	c.expect("z\n0\ncharged 0.1/kWh to 1 account, 0.8 left\n" + shell.Prompt)
	c.run(".confirm off", "")
	c.run(fmt.Sprintf(of, "0.4"), "z\n0\ncharged 0.4/kWh to 1 account, 0.4 left\n")
	c.run(fmt.Sprintf(of, "0.5"), "geosql: dx_value: account 'bo' has 0.4/kWh left of 1.0/kWh, 0.5/kWh asked, 0.1/kWh short\n")
	c.press("\x04")
	c.leave(0)
}
