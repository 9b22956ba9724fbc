package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn"
)

// A host runs statements on a new connection to the database, or to a copy of it in
// memory (deserialized), and continues after errors.
type host func(database string, statements []string) ([]outcome, error)

// hosts are all hosts. One that is not installed skips the test that uses it.
var hosts = []struct {
	name  string
	start func(*testing.T) host
}{
	{"Go", func(*testing.T) host { return runGo }},
	{"shell", func(t *testing.T) host { return shellHost(filepath.Join(unpacked(t), "geosql")) }},
	{"Python", func(t *testing.T) host {
		return programHost(filepath.Join(environment(t), "bin", "python"), "", "hosts/sqlite3_host.py")
	}},
	{"better-sqlite3", func(t *testing.T) host { return nodeHost(t, "better-sqlite3") }},
	{"node:sqlite", func(t *testing.T) host { return nodeHost(t, "node:sqlite") }},
	{"Python on linux/arm64", func(t *testing.T) host { return onARM.start(t) }},
	{"Python on windows/amd64", func(t *testing.T) host { return onWindows.start(t) }},
}

// onAnotherHost runs a test on a host of this machine beside Go, another one each time, and on those of other platforms.
func onAnotherHost(t *testing.T, test func(t *testing.T, run host)) {
	const here = 5
	for _, h := range append(trials.Some(t, 1, hosts[1:here]...), hosts[here:]...) {
		t.Run(h.name, func(t *testing.T) { test(t, h.start(t)) })
	}
}

// onEveryHost runs a test on each host.
func onEveryHost(t *testing.T, test func(t *testing.T, run host)) {
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) { test(t, h.start(t)) })
	}
}

// deserialized is the prefix of the name of a copy in memory.
const deserialized = "deserialize:"

// runGo runs statements on a Go program's connection.
func runGo(database string, statements []string) (outcomes []outcome, err error) {
	file, copied := strings.CutPrefix(database, deserialized)
	if copied {
		database = ":memory:"
	}
	pool := sql.OpenDB(sqlitefn.Connector(database + "?_sync=OFF")) // the ledger waits for the disk all the same
	defer pool.Close()
	conn, err := pool.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if copied {
		if err := deserialize(conn, file); err != nil {
			return nil, err
		}
	}
	for _, s := range statements {
		rows, err := goRows(conn, s)
		o := outcome{Rows: rows}
		if err != nil {
			var refusal *sqlitefn.RefusedError
			o.Error, o.Refused = err.Error(), errors.As(err, &refusal)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func deserialize(conn *sql.Conn, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return conn.Raw(func(c any) error { return c.(*sqlitefn.Conn).Deserialize(content, "main") })
}

func goRows(conn *sql.Conn, statement string) (rows [][]string, err error) {
	r, err := conn.QueryContext(context.Background(), statement)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for r.Next() {
		if err := r.Scan(into...); err != nil {
			return rows, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = literal(v)
		}
		rows = append(rows, row)
	}
	return rows, r.Err()
}

// literal returns a value as written in SQL.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []byte:
		return "X'" + hex.EncodeToString(v) + "'"
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if typeOf(s) == "INTEGER" {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(v)
}

// programHost returns the host of a program that reads a request and writes outcomes, both
// in JSON.
func programHost(program, nodePath string, args ...string) host {
	return func(database string, statements []string) ([]outcome, error) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "NODE_PATH="+nodePath)
		return ask(cmd, database, statements)
	}
}

// ask has a program read a request and returns the outcomes that it writes.
func ask(cmd *exec.Cmd, database string, statements []string) (outcomes []outcome, err error) {
	request, err := json.Marshal(map[string]any{"database": database, "statements": statements})
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(request)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, said.String())
	}
	return outcomes, json.Unmarshal(out, &outcomes)
}

// nodeHost returns the host of a Node library. The package comes from the project, the
// library from the folder of the program.
func nodeHost(t *testing.T, library string) host {
	folder := project(t)
	return programHost(nodeBinary(t), filepath.Join(folder, "node_modules"), "hosts/node_host.js", library)
}

// shellHost runs statements in the sqlite3 shell, which reads one statement per line,
// writes rows in SQL (.mode quote), and names the line in an error.
func shellHost(extension string) host {
	return func(database string, statements []string) ([]outcome, error) {
		const mark = "-- statement"
		file, copied := strings.CutPrefix(database, deserialized)
		open := ""
		if copied {
			database, open = ":memory:", " --deserialize "+file
		}
		input := fmt.Sprintf(".open%s\n.load %s\n.mode quote\n", cmp.Or(open, " "+database), extension)
		const before = 3 // lines
		for _, s := range statements {
			if strings.Contains(s, "\n") {
				return nil, fmt.Errorf("a statement of several lines: %s", s)
			}
			input += ".print " + mark + "\n" + s + "\n"
		}
		cmd := exec.Command("sqlite3", "-batch", database)
		cmd.Stdin = strings.NewReader(input)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		var failed *exec.ExitError // as it is when any statement fails
		if err != nil && !errors.As(err, &failed) {
			return nil, err
		}
		outcomes := make([]outcome, len(statements))
		if err := shellErrors(errs.String(), before, outcomes); err != nil {
			return nil, err
		}
		n := -1
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			if lines.Text() == mark {
				n++
				continue
			}
			row, err := splitFields(lines.Text())
			if err != nil || n < 0 {
				return nil, fmt.Errorf("the shell answers %s: %v", lines.Text(), err)
			}
			outcomes[n].Rows = append(outcomes[n].Rows, row)
		}
		return outcomes, nil
	}
}

// shellError matches the first line of an error of the shell.
var shellError = regexp.MustCompile(`^\w* ?[Ee]rror:? near line (\d+): (.*?)(?: \((\d+)\))?$`)

// shellErrors assigns errors to the statements with the lines that they name. A parse error
// continues with the indented statement.
func shellErrors(text string, before int, outcomes []outcome) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := shellError.FindStringSubmatch(line)
		if m == nil {
			if strings.HasPrefix(line, "  ") {
				continue
			}
			return fmt.Errorf("the shell says %s", line)
		}
		n, _ := strconv.Atoi(m[1])
		if n = (n - before - 1) / 2; n < 0 || n >= len(outcomes) {
			return fmt.Errorf("the shell says %s", line)
		}
		outcomes[n].Error, outcomes[n].Refused = m[2], m[3] == "23"
	}
	return nil
}
