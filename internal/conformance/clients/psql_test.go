package clients

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
)

// psql runs psql and returns its standard output and standard error. env changes its environment.
func (s *server) psql(t *testing.T, env []string, input string, args ...string) (out, said string, err error) {
	t.Helper()
	program := need.Program(t, "psql")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"-X"}, args...)...)
	cmd.Env = append(os.Environ(), s.env(env...)...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// refusedVariants are the ones that fail while the command works without the letters.
var refusedVariants = map[string]string{
	`\dP+`:  lateral,
	`\dPt+`: lateral,
	`\dPi+`: lateral,
	`\dPn+`: lateral,
}

const lateral = "psql asks with LATERAL, which SQLite does not have; there are no partitioned tables to list"

var informational = regexp.MustCompile(`^  (\\\S+)`)

// TestPsqlCommands runs every command that psql's own help lists as informational: as it stands, with a pattern, and
// with each of the letters that it takes.
func TestPsqlCommands(t *testing.T) {
	s := serve(t)
	help, _, err := s.psql(t, nil, "", "-c", `\?`)
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ = strings.Cut(help, "\nInformational\n")
	help, _, _ = strings.Cut(help, "\nLarge Objects\n")
	var commands []string
	works := map[string]bool{}
	for line := range strings.Lines(help) {
		m := informational.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, letters, _ := strings.Cut(strings.TrimSuffix(m[1], "]"), "[")
		name, letters = strings.TrimSuffix(name, "]"), strings.ReplaceAll(letters, "][", "")
		if _, is := works[name]; !is {
			works[name] = true
			commands = append(commands, name)
		}
		variants := []string{name}
		switch {
		case strings.Contains(line, "VIEWNAME"):
			variants, letters = []string{name + " warm", name + "+ public.warm"}, ""
		case strings.Contains(line, "FUNCNAME"):
			variants, letters = []string{name + " dx_sum"}, ""
		case strings.Contains(line, "PTRN") || strings.Contains(line, "PATTERN"):
			variants = append(variants, name+" r*", name+" public.s*", name+` "Nothing"`)
		case strings.Contains(line, "NAME"):
			variants = []string{name + " reading", name + " warm", name + " series_pkey", name + " pg_catalog.pg_class", name + " *"}
		}
		for _, letter := range letters {
			variants = append(variants, name+string(letter))
			if letter != '+' && strings.Contains(letters, "+") {
				variants = append(variants, name+string(letter)+"+")
			}
		}
		failed := s.failing(t, variants)
		for _, v := range variants {
			switch why := failed[v]; {
			case why != "" && refusedVariants[v] == "":
				works[name] = false
				t.Errorf("%s: %s", v, why)
			case why == "" && refusedVariants[v] != "":
				t.Errorf("%s works: refusedVariants says that it does not", v)
			}
		}
	}
	n := 0
	for _, w := range works {
		if w {
			n++
		}
	}
	t.Logf("%d of %d commands work", n, len(commands))
	if n < 43 {
		t.Errorf("%d of %d commands work, want 43 at least", n, len(commands))
	}
}

// failing returns psql's errors for the commands that fail. Most do not, so that all run in one psql first.
// That psql itself complains about a pattern, which matches nothing or has too many parts, is no failure.
func (s *server) failing(t *testing.T, commands []string) map[string]string {
	t.Helper()
	var args []string
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	_, said, _ := s.psql(t, nil, "", args...)
	failed := map[string]string{}
	if !strings.Contains(said, "ERROR") && !strings.Contains(said, "FATAL") && !strings.Contains(said, "connection") {
		return failed
	}
	for _, c := range commands {
		if _, said, _ := s.psql(t, nil, "", "-c", c); strings.Contains(said, "ERROR") || strings.Contains(said, "FATAL") || strings.Contains(said, "connection") {
			failed[c] = said
		}
	}
	return failed
}

// TestPsql has the answers of psql to some input. Texts of several lines are in the order in which they must come.
func TestPsql(t *testing.T) {
	need.Program(t, "psql")
	s := serve(t)
	file := filepath.Join(t.TempDir(), "out.csv")
	for _, c := range []struct {
		what, input string
		args        []string
		out, said   string // standard output, and the beginning of the first line of standard error
		status      int
	}{
		{"a private sum", "SELECT dx_sum(kwh, 100) FROM reading;", nil, "4995\n", "", 0},
		{"a sealed table", `\d reading`, nil, "home|text|||\nkwh|sealed|||\nlocation|sealed|||\nhour|text|||\ntemperature|double precision|||\nday|bigint|||\n", "", 0},
		{"a table with keys", `\d series`, []string{"-Aq"}, "Table \"public.series\"\nColumn|Type|Collation|Nullable|Default\nn|bigint||not null|\nx|double precision||not null|\ns|text|||\nb|bytea|||\nplace_id|bigint|||\nIndexes:\n" +
			"    \"series_pkey\" PRIMARY KEY, btree (n)\n    \"series_by_place\" btree (place_id, x)\nForeign-key constraints:\n    \"series_place_id_fkey\" FOREIGN KEY (place_id) REFERENCES place(id)\n", "", 0},
		{"a table that others refer to", `\d place`, []string{"-Aq"}, "Table \"public.place\"\nColumn|Type|Collation|Nullable|Default\nid|bigint||not null|\nname|text||not null|\nIndexes:\n    \"place_pkey\" PRIMARY KEY, btree (id)\n" +
			"    \"place_name_key\" UNIQUE CONSTRAINT, btree (name)\nReferenced by:\n    TABLE \"series\" CONSTRAINT \"series_place_id_fkey\" FOREIGN KEY (place_id) REFERENCES place(id)\n", "", 0},
		{"comments on sealed columns", `SELECT col_description('reading'::regclass, 2);`, nil, "sealed; universe energy, account in column home\n", "", 0},
		{"tables", `\dt`, nil, "public|place|table|owner\npublic|reading|table|owner\npublic|sample|table|owner\npublic|series|table|owner\n", "", 0},
		{"views", `\dv`, nil, "public|warm|view|owner\n", "", 0},
		{"privileges", `\dp place`, nil, "public|place|table|ann=r/owner||\n", "", 0},
		{"the text of a view", `\sv warm`, nil, "CREATE OR REPLACE VIEW public.warm AS\nSELECT home, hour, kwh, temperature FROM reading WHERE temperature > 10\n", "", 0},
		{"who and where", `SELECT current_user, current_database(), current_schema();`, nil, "ann|open|public\n", "", 0},
		{`\conninfo`, `\conninfo`, nil, `You are connected to database "open" as user "ann" on host "127.0.0.1" at port "` + s.port + "\".\n", "", 0},
		{"--csv", "SELECT id, name FROM place;", []string{"-q", "--csv"}, "id,name\n1,Paris\n2,Montréal\n3,\"a \"\"quoted\"\" one\"\n", "", 0},
		{`\copy of a query`, `\copy (SELECT id, name FROM place ORDER BY id) TO '` + file + `' WITH CSV HEADER`, nil, "COPY 3\n", "", 0},
		{`\copy of a table`, `\copy place TO STDOUT`, nil, "1\tParis\n2\tMontréal\n3\ta \"quoted\" one\n", "", 0},
		{`\copy of a private answer`, `\copy (SELECT day, dx_sum(kwh, 100) FROM reading WHERE day = 2 GROUP BY day) TO STDOUT (FORMAT csv, DELIMITER ';')`, nil, "2;207\n", "", 0},
		{`\copy from a file`, `\copy place FROM '` + file + `' CSV`, nil, "", "ERROR:  ", 0},
		{"COPY", "COPY (SELECT n, s, b FROM series WHERE n IN (1, 10) ORDER BY n) TO STDOUT;", nil, "1\ttext 1\t\\\\x00ff0a\n10\t\\N\t\\N\n", "", 0},
		{`\timing`, "\\timing on\nSELECT 1;", nil, "1\nTime: ", "", 0},
		{`\gset`, "SELECT dx_sum(kwh, 100)::bigint AS total FROM reading \\gset\n\\echo :total", nil, "4995\n", "", 0},
		{`\gdesc of a private answer`, `SELECT dx_sum(kwh, 100), count(*) FROM reading \gdesc`, nil, "dx_sum|double precision\ncount|bigint\n", "", 0},
		{`\gdesc`, `SELECT n, x, s, b, n > 1 AS late FROM series \gdesc`, nil, "n|bigint\nx|double precision\ns|text\nb|bytea\nlate|boolean\n", "", 0},
		{`\gexec`, "SELECT 'SELECT ' || id FROM place \\gexec", nil, "1\n2\n3\n", "", 0},
		{`\gx`, "SELECT id, name FROM place WHERE id = 1 \\gx", nil, "id|1\nname|Paris\n", "", 0},
		{`\crosstabview`, "SELECT id % 2 AS odd, id, name FROM place WHERE id < 3 ORDER BY 1 \\crosstabview", []string{"-Aq", "-P", "footer=off"}, "odd|2|1\n0|Montréal|\n1||Paris\n", "", 0},
		{"variables", "SELECT :'name' || ' ' || :n;", []string{"-v", "name=it's", "-v", "n=3"}, "it's 3\n", "", 0},
		{`\if`, "\\if true\nSELECT 1;\n\\else\nSELECT 2;\n\\endif", nil, "1\n", "", 0},
		{"several statements in a line", `SELECT 1\; SELECT 2;`, nil, "1\n2\n", "", 0},
		{"FETCH_COUNT", "\\set FETCH_COUNT 7000\nSELECT n FROM series WHERE n > 99998;\nSELECT count(*) FROM series;", nil, "99999\n100000\n100000\n", "", 0},
		{"FETCH_COUNT and a private answer", "\\set FETCH_COUNT 1\nSELECT day, dx_sum(kwh, 100) FROM reading GROUP BY day ORDER BY day DESC LIMIT 1;", nil, "2|207\n", "", 0},
		{"DECLARE and FETCH", "BEGIN;\nDECLARE c CURSOR FOR SELECT id FROM place;\nFETCH 2 FROM c;\nMOVE c;\nFETCH c;\nCLOSE c;\nCOMMIT;", nil,
			"BEGIN\nDECLARE CURSOR\n1\n2\nMOVE 1\nCLOSE CURSOR\nCOMMIT\n", "", 0},
		{"DECLARE outside of a transaction", "DECLARE c CURSOR FOR SELECT 1;", nil, "", "ERROR:  DECLARE CURSOR can only be used in transaction blocks", 0},
		{"-1", "SELECT 1;\nSELECT 2;", []string{"-1"}, "1\n2\n", "", 0},
		{"-1 and an error", "SELECT 1;\nSELECT nope;\nSELECT 2;", []string{"-1", "-v", "ON_ERROR_STOP=1"}, "1\n", "ERROR:  no such column: nope", 3},
		{"ON_ERROR_STOP", "SELECT nope;\nSELECT 2;", []string{"-v", "ON_ERROR_STOP=1"}, "", "ERROR:  no such column: nope\nLINE 1: SELECT nope;\n               ^\n", 3},
		{"ON_ERROR_ROLLBACK", "\\set ON_ERROR_ROLLBACK on\nBEGIN;\nSELECT nope;\nSELECT 2;\nCOMMIT;", nil, "BEGIN\n2\nCOMMIT\n", "ERROR:  no such column: nope", 0},
		{"an error without the switch", "SELECT nope;\nSELECT 2;", nil, "2\n", "ERROR:  no such column: nope", 0},
		{"the position of an error", "SELECT id,\n  nope\nFROM place;", nil, "", "ERROR:  no such column: nope\nLINE 2:   nope\n          ^\n", 0},
		{"a syntax error", "SELECT id id id FROM place;", nil, "", "ERROR:  near \"id\": syntax error\nLINE 1: SELECT id id id FROM place;\n                     ^\n", 0},
		{`\errverbose`, "SELECT nope;\n\\errverbose", nil, "", "ERROR:  no such column: nope\nLINE 1: SELECT nope;\n               ^\nERROR:  42703: ", 0},
		{"an INSERT", "INSERT INTO place VALUES (9, 'x');", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  25006", 0},
		{"CREATE TABLE", "CREATE TABLE x(y INT);", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  25006", 0},
		{"PostgreSQL's syntax that SQLite lacks", "SELECT ARRAY[1, 2] && ARRAY[2];", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  0A000", 0},
		{"DO", "DO $$ BEGIN END $$;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  0A000", 0},
		{"LISTEN", "LISTEN x;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  0A000", 0},
		{"a sum over a sealed column", "SELECT sum(kwh) FROM reading;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  42804", 0},
		{"SET geosql.epsilon", "SET geosql.epsilon = 100;\nSELECT sum(kwh), avg(kwh), min(kwh), max(kwh) FROM reading;", nil, "SET\n4995|4.995|0|10\n", "", 0},
		{"SET geosql.epsilon to nonsense", "SET geosql.epsilon = 'much';", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  22023", 0},
		{"a sealed column read bare", "SELECT kwh FROM reading LIMIT 1;", nil, "\\x7365616c6564\n", "NOTICE:  kwh is sealed", 0},
		{"a function that is not there", "SELECT nowhere(1);", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  42883", 0},
		{"EXPLAIN", "EXPLAIN SELECT name FROM place WHERE id = 1;", nil, "SEARCH place USING INTEGER PRIMARY KEY (rowid=?)\n", "", 0},
		{"EXPLAIN ANALYZE", "EXPLAIN ANALYZE SELECT dx_sum(kwh, 1) FROM reading;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  0A000", 0},
		{"SHOW", "SHOW server_version;\nSHOW geosql.epsilon;\nSHOW transaction_read_only;", nil, "15.0\n\non\n", "", 0},
		{"SHOW of nothing", "SHOW nothing;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  42704", 0},
		{"statement_timeout", "SET statement_timeout = '300ms';\nWITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;", []string{"-v", "VERBOSITY=sqlstate"}, "SET\n", "ERROR:  57014", 0},
		{"DISCARD ALL", "SET geosql.epsilon = 1;\nDISCARD ALL;\nSHOW geosql.epsilon;", nil, "SET\nDISCARD ALL\n\n", "", 0},
		{"an application's name", "SHOW application_name;", nil, "psql\n", "", 0},
		{"another time zone", "SET TimeZone = 'Europe/Paris';\nSHOW TimeZone;", nil, "SET\nEurope/Paris\n", "", 0},
		{"an encoding that is not UTF-8", `\encoding LATIN1`, nil, "", "LATIN1: invalid encoding name or conversion procedure not found", 0},
		{`\watch`, "SELECT 1 \\watch 0.2", nil, "1\n1\n", "", -1},
		{"a prepared statement", "PREPARE p AS SELECT 1;", []string{"-v", "VERBOSITY=sqlstate"}, "", "ERROR:  0A000", 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			args := append([]string{"-Atq"}, c.args...)
			if len(c.args) > 0 && strings.Contains(c.args[0], "q") { // all of its own
				args = c.args
			}
			if strings.Contains(c.out, "BEGIN") || strings.Contains(c.out, "SET") || strings.Contains(c.out, "COPY ") || strings.Contains(c.out, "DISCARD") {
				args[0] = "-At"
			}
			if c.status < 0 { // it goes on for ever
				if out := s.interrupted(t, c.input, c.out); !strings.Contains(out, c.out) {
					t.Errorf("psql prints\n%swant\n%s", out, c.out)
				}
				return
			}
			out, said, err := s.psql(t, nil, c.input+"\n", args...)
			if !strings.HasPrefix(c.said, "NOTICE") {
				said = withoutNotices(said)
			}
			status := 0
			if e, is := err.(*exec.ExitError); is {
				status = e.ExitCode()
			}
			if !(out == c.out || strings.HasSuffix(c.out, ": ") && strings.HasPrefix(out, c.out)) || !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") || status != c.status {
				t.Errorf("psql ends with %d, prints\n%sand says\n%swant %d,\n%sand\n%s", status, out, said, c.status, c.out, c.said)
			}
		})
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "id,name\n1,Paris\n2,Montréal\n3,\"a \"\"quoted\"\" one\"\n" {
		t.Errorf("\\copy has written %q, %v", text, err)
	}
}

var notice = regexp.MustCompile(`(?m)^NOTICE:  .*\n`)

// withoutNotices takes the notices of costs from the output of psql.
func withoutNotices(said string) string { return notice.ReplaceAllString(said, "") }

// interrupted runs psql until it is sent Ctrl-C, after a second, or as many as it takes until its output matches a pattern, and
// returns its output.
func (s *server) interrupted(t *testing.T, input, pattern string) (out string) {
	t.Helper()
	for after := time.Second; after < time.Minute && !regexp.MustCompile(pattern).MatchString(out); after *= 2 {
		out = s.interruptedAfter(t, input, after)
	}
	return out
}

// interruptedAfter runs psql until it is sent Ctrl-C after some time, and returns its output.
func (s *server) interruptedAfter(t *testing.T, input string, after time.Duration) string {
	t.Helper()
	cmd := exec.Command(need.Program(t, "psql"), "-XAtq", "-v", "VERBOSITY=verbose", "-c", input)
	if strings.Contains(input, `\`) {
		cmd = exec.Command(cmd.Path, "-XAtq")
		cmd.Stdin = strings.NewReader(input + "\n")
	}
	cmd.Env = append(os.Environ(), s.env()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	time.Sleep(after)
	began := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("psql does not end 20 s after Ctrl-C; it has printed\n%s", out.String())
	}
	t.Logf("psql ended %v after Ctrl-C", time.Since(began).Round(time.Millisecond))
	return out.String()
}

// Ctrl-C in psql ends the statement, and psql says so.
func TestPsqlInterrupt(t *testing.T) {
	s := serve(t)
	for _, sql := range []string{
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
		"SELECT count(*) FROM series a, series b, series c",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT dx_sum(kwh, 0.01) FROM reading, n WHERE i > 10",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0 OR i > 1000000000000",
	} {
		if out := s.interrupted(t, sql, "57014|more than once"); !strings.Contains(out, "57014") && !strings.Contains(out, "more than once") {
			t.Errorf("%s\n%s", sql, out)
		}
	}
}

// TestLogin has who may log in, and how.
func TestLogin(t *testing.T) {
	plain := serve(t)
	secure := serve(t, "--tls-cert", shared("server.pem"), "--tls-key", shared("server.key"))
	ca, other := "sslrootcert="+shared("ca.pem"), "sslrootcert="+shared("other.pem")
	const encrypted = `\conninfo`
	for _, c := range []struct {
		what string
		s    *server
		how  string // a connection string
		sql  string
		out  string
		said string // a part of standard error
	}{
		{"without TLS", plain, "sslmode=disable", "SELECT 1;", "1\n", ""},
		{"TLS that is not there", plain, "sslmode=require", "SELECT 1;", "", "server does not support SSL"},
		{"a wrong password", plain, "password=wrong", "SELECT 1;", "", `FATAL:  password authentication failed for user "ann"`},
		{"no password", plain, "password=''", "SELECT 1;", "", "no password supplied"},
		{"a role that is not there", plain, "user=nobody", "SELECT 1;", "", `FATAL:  password authentication failed for user "nobody"`},
		{"a database that is not there", plain, "dbname=nowhere", "SELECT 1;", "", "nowhere"},
		{"another role", plain, "user=poor", "SELECT current_user;", "poor\n", ""},
		{"channel binding without TLS", plain, "sslmode=disable channel_binding=require", "SELECT 1;", "", "channel binding"},
		{"TLS", secure, "sslmode=require", encrypted, "SSL connection", ""},
		{"a server with TLS, without", secure, "sslmode=disable", encrypted, "You are connected", ""},
		{"TLS if there is any", secure, "sslmode=prefer", encrypted, "SSL connection", ""},
		{"a certificate that is verified", secure, "sslmode=verify-full " + ca, encrypted, "SSL connection", ""},
		{"a certificate that is verified, by name", secure, "host=localhost hostaddr=127.0.0.1 sslmode=verify-full " + ca, "SELECT 1;", "1\n", ""},
		{"a certificate of somebody else", secure, "sslmode=verify-full " + other, "SELECT 1;", "", "certificate verify failed"},
		{"a certificate for another name", secure, "host=elsewhere.test hostaddr=127.0.0.1 sslmode=verify-full " + ca, "SELECT 1;", "", `does not match host name "elsewhere.test"`},
		{"channel binding", secure, "sslmode=verify-full channel_binding=require " + ca, "SELECT 1;", "1\n", ""},
		{"channel binding and a wrong password", secure, "sslmode=require channel_binding=require password=wrong", "SELECT 1;", "", "password authentication failed"},
		{"TLS 1.2", secure, "sslmode=require ssl_max_protocol_version=TLSv1.2 channel_binding=require", "SELECT 1;", "1\n", ""},
		{"TLS 1.1", secure, "sslmode=require ssl_min_protocol_version=TLSv1.1 ssl_max_protocol_version=TLSv1.1", "SELECT 1;", "", "error"},
		{"settings of the startup packet", plain, "options='-c geosql.epsilon=100'", "SELECT sum(kwh) FROM reading;", "4995\n", ""},
		{"a setting that is not there", plain, "options='-c geosql.nothing=1'", "SELECT 1;", "", "geosql.nothing"},
	} {
		t.Run(c.what, func(t *testing.T) {
			out, said, _ := c.s.psql(t, nil, c.sql, "-Atq", c.how)
			said = withoutNotices(said)
			if c.sql == encrypted {
				_, tls, is := strings.Cut(out, "\n")
				if !strings.Contains(out, "You are connected") || c.out == "SSL connection" != (is && strings.HasPrefix(tls, c.out)) {
					t.Errorf("psql prints\n%sand says\n%s", out, said)
				}
				return
			}
			if out != c.out || (c.said == "") != (said == "") || !strings.Contains(said, c.said) {
				t.Errorf("psql prints\n%sand says\n%swant\n%sand\n%s", out, said, c.out, c.said)
			}
		})
	}
}

// TestPgbench has pgbench run statements without a transaction, from 8 clients, in each of its modes.
func TestPgbench(t *testing.T) {
	program := need.Program(t, "pgbench")
	s := serve(t)
	script := filepath.Join(t.TempDir(), "script.sql")
	const text = `\set n random(1, 100000)
SELECT x, s FROM series WHERE n = :n;
SELECT count(*), max(x) FROM series WHERE n BETWEEN :n AND :n + 100;
SELECT p.name FROM series s JOIN place p ON p.id = s.place_id WHERE s.n = :n;
SELECT dx_sum(kwh, 100) FROM reading WHERE day = 1;
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"simple", "extended", "prepared"} {
		t.Run(mode, func(t *testing.T) {
			out, err := run(s.env(), "", program, "-n", "-M", mode, "-c", "8", "-j", "2", "-t", fmt.Sprint(trials.Fewer(25, 500)), "-f", script)
			if err != nil || !strings.Contains(out, "number of failed transactions: 0 (0.000%)") {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "tps") || strings.HasPrefix(line, "latency average") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// TestRecorded makes the known queries of drivers and tools, without running them.
func TestRecorded(t *testing.T) {
	s := serve(t)
	oid := func(sql string) string {
		out, said, err := s.psql(t, nil, sql, "-Atq")
		if err != nil || said != "" {
			t.Fatal(said, err)
		}
		return strings.TrimSpace(out)
	}
	replace := strings.NewReplacer("{reading}", oid("SELECT 'reading'::regclass::oid;"), "{recent}", oid("SELECT 'warm'::regclass::oid;"),
		"{sealed}", oid("SELECT oid FROM pg_type WHERE typname = 'sealed';"), "{version}", oid("SELECT oid FROM pg_proc WHERE proname = 'version';"),
		"homes", database)
	for _, file := range []string{"drivers.sql", "tools.sql"} {
		text, err := os.ReadFile(filepath.Join("../../../serve/internal/pgcatalog/testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n--- ")[1:] {
			name, sql, _ := strings.Cut(part, "\n")
			t.Run(name, func(t *testing.T) {
				var body strings.Builder
				var parameters []string
				for line := range strings.Lines(sql) {
					if p, is := strings.CutPrefix(line, "-- $ "); is {
						parameters = strings.Split(replace.Replace(strings.TrimSpace(p)), ", ")
						continue
					}
					body.WriteString(line)
				}
				query := strings.TrimSpace(replace.Replace(body.String()))
				for i := len(parameters); i > 0; i-- {
					query = strings.ReplaceAll(query, fmt.Sprintf("$%d", i), "'"+strings.ReplaceAll(parameters[i-1], "'", "''")+"'")
				}
				if out, said, err := s.psql(t, nil, "", "-Atq", "-v", "ON_ERROR_STOP=1", "-c", query); err != nil || said != "" {
					t.Errorf("%s\n%v, %s%s", query, err, said, out)
				}
			})
		}
	}
}
