package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A script is a file of scripts/: statements in order and the expectations of each.
// README.md describes the format.
type script struct {
	name     string
	sessions [][]statement // each on a connection of its own, to one database
}

// A statement is one line of SQL with its expectations.
type statement struct {
	line    int
	sql     string
	rows    []rowPattern
	fails   *failure // nil for a statement that succeeds
	charges map[budgetKey]float64
	law     law // nil for one with rows that are not noise to judge
}

// A rowPattern is a row that occurs a number of times in succession.
type rowPattern struct {
	times  int
	fields []string
}

// A failure is an error and whether it refuses a charge (SQLITE_AUTH_USER).
type failure struct {
	refused bool
	message string
}

// A budgetKey is the account and the unit of a charge.
type budgetKey struct{ account, unit string }

// scripts returns all scripts of scripts/.
func scripts(t *testing.T) (list []script) {
	t.Helper()
	files, err := filepath.Glob("scripts/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScript(string(text))
		if err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		s.name = strings.TrimSuffix(filepath.Base(file), ".sql")
		list = append(list, s)
	}
	return list
}

// commentAtEnd matches a comment after a statement on the same line.
var commentAtEnd = regexp.MustCompile(`;\s+--.*$`)

// reconnect is the line that ends a session.
const reconnect = "--- reconnect"

// parseScript parses a script. Its errors begin with the number of the line.
func parseScript(text string) (script, error) {
	s := script{sessions: make([][]statement, 1)}
	var sql []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		last := &s.sessions[len(s.sessions)-1]
		marked := len(line) > 3 && line[:2] == "--" && line[2] != ' '
		switch {
		case line == reconnect:
			s.sessions = append(s.sessions, nil)
		case marked && (len(*last) == 0 || len(sql) > 0):
			return s, fmt.Errorf("%d: an expectation follows a statement", i+1)
		case marked:
			if err := (*last)[len(*last)-1].expect(line[:3], strings.TrimSpace(line[3:])); err != nil {
				return s, fmt.Errorf("%d: %w", i+1, err)
			}
		case line == "" || strings.HasPrefix(line, "--"):
		default:
			line = commentAtEnd.ReplaceAllString(line, ";")
			if sql = append(sql, line); strings.HasSuffix(line, ";") {
				*last = append(*last, statement{line: i + 2 - len(sql), sql: strings.Join(sql, " "), charges: map[budgetKey]float64{}})
				sql = nil
			}
		}
	}
	if len(sql) > 0 {
		return s, fmt.Errorf("the last statement has no ;")
	}
	return s, nil
}

// expect adds an expectation to the statement.
func (s *statement) expect(mark, says string) (err error) {
	switch mark {
	case "-->":
		row := rowPattern{times: 1}
		if times, rest, ok := strings.Cut(says, " x "); ok {
			if n, err := strconv.Atoi(times); err == nil {
				row.times, says = n, rest
			}
		}
		row.fields, err = splitFields(says)
		s.rows = append(s.rows, row)
	case "--!":
		message, refused := strings.CutPrefix(says, "refused: ")
		s.fails = &failure{refused, message}
	case "--$":
		for _, charge := range strings.Split(says, ", ") {
			if err := s.expectCharge(charge); err != nil {
				return err
			}
		}
	case "--~":
		s.law, err = parseLaw(says)
	default:
		err = fmt.Errorf("no expectation begins with %s", mark)
	}
	return err
}

// expectCharge parses a charge, such as: ana 0.01/m.
func (s *statement) expectCharge(says string) error {
	account, cost, ok := strings.Cut(says, " ")
	epsilon, unit, ok2 := strings.Cut(cost, "/")
	amount, err := strconv.ParseFloat(epsilon, 64)
	if !ok || !ok2 || err != nil {
		return fmt.Errorf("%q is no charge such as: ana 0.01/m", says)
	}
	s.charges[budgetKey{account, unit}] = amount
	return nil
}

// splitFields splits a text at the commas outside quotes.
func splitFields(s string) (fields []string, err error) {
	quoted, start := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			fields = append(fields, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed in %s", s)
	}
	return append(fields, strings.TrimSpace(s[start:])), nil
}
