package conformance

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An outcome is the result of a statement on a host. Values are written as in SQL:
// NULL, 5, 5.0, 'text', X'00'.
type outcome struct {
	Rows    [][]string
	Error   string // "" for none
	Refused bool   // the error's code is SQLITE_AUTH_USER
}

// balances is run after each statement to see its charge. A reservation that is
// still held counts as spent.
const balances = `SELECT account, unit, spent + reserved FROM ledger_balance WHERE account <> '*';`

// check compares the outcomes of a session. Every second one is that of
// balances, with the expectations and returns every difference. It adds the charges to
// before, which holds the earlier spending.
func check(session []statement, outcomes []outcome, before map[budgetKey]float64) error {
	if len(outcomes) != 2*len(session) {
		return fmt.Errorf("%d outcomes of %d statements", len(outcomes), 2*len(session))
	}
	var all error
	for i, s := range session {
		err := errors.Join(
			s.checkError(outcomes[2*i]),
			s.checkRows(outcomes[2*i].Rows),
			s.checkCharges(outcomes[2*i+1], before))
		if err == nil && s.law != nil {
			err = s.law.judge(outcomes[2*i].Rows)
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("line %d: %s\n%w", s.line, s.sql, err))
		}
	}
	return all
}

func (s statement) checkError(o outcome) error {
	switch {
	case s.fails == nil && o.Error != "":
		return fmt.Errorf("fails: %s", o.Error)
	case s.fails == nil:
		return nil
	case o.Error == "":
		return fmt.Errorf("does not fail with: %s", s.fails.message)
	case !matches(s.fails.message, o.Error):
		return fmt.Errorf("fails with: %s\ninstead of:  %s", o.Error, s.fails.message)
	case s.fails.refused != o.Refused:
		return fmt.Errorf("refused is %t, want %t", o.Refused, s.fails.refused)
	}
	return nil
}

// checkRows compares rows. It lets a statement that fails show one row less than it
// answered, since Python is one step ahead of the rows that it returns.
func (s statement) checkRows(rows [][]string) error {
	n, withheld := 0, 0
	for _, pattern := range s.rows {
		for range pattern.times {
			if n == len(rows) && s.fails != nil && withheld == 0 {
				withheld++
				continue
			}
			if n == len(rows) {
				return fmt.Errorf("answers %d rows, want more", n)
			}
			if !pattern.fits(rows[n]) {
				return fmt.Errorf("row %d is %s, want %s", n+1, strings.Join(rows[n], ", "), strings.Join(pattern.fields, ", "))
			}
			n++
		}
	}
	if n < len(rows) {
		return fmt.Errorf("answers %d rows, want %d; the next is %s", len(rows), n, strings.Join(rows[n], ", "))
	}
	return nil
}

// checkCharges compares the growth of all balances with the expected charges.
func (s statement) checkCharges(o outcome, before map[budgetKey]float64) error {
	if o.Error != "" {
		return fmt.Errorf("its balances: %s", o.Error)
	}
	var all error
	seen := map[budgetKey]bool{}
	for _, row := range o.Rows {
		if len(row) != 3 {
			return fmt.Errorf("a balance is %q", row)
		}
		p := budgetKey{unquote(row[0]), unquote(row[1])}
		spent, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return err
		}
		// Costs are whole numbers of 1e-12; sums of scripts stay below 1e6.
		if charged := spent - before[p]; math.Abs(charged-s.charges[p]) > 1e-9 {
			all = errors.Join(all, fmt.Errorf("charges %s %.12g/%s, want %.12g", p.account, charged, p.unit, s.charges[p]))
		}
		before[p], seen[p] = spent, true
	}
	for p := range s.charges {
		if !seen[p] {
			all = errors.Join(all, fmt.Errorf("charges %s nothing of unit %s, which has no balance", p.account, p.unit))
		}
	}
	return all
}

func (p rowPattern) fits(row []string) bool {
	if len(row) != len(p.fields) {
		return false
	}
	for i, field := range p.fields {
		if !fits(field, row[i]) {
			return false
		}
	}
	return true
}

// fits reports whether a value matches a field: a type, a range lo..hi of the type of
// its ends, a number, or a literal in which ... stands for any text.
func fits(field, value string) bool {
	kind := typeOf(value)
	switch field {
	case "NULL", "INTEGER", "REAL", "TEXT", "BLOB":
		return kind == field
	}
	if field[0] == '\'' {
		return kind == "TEXT" && matches(field, value)
	}
	lo, hi, ranged := strings.Cut(field, "..")
	if !ranged {
		hi = lo
	}
	if kind != typeOf(lo) {
		return false
	}
	from, err1 := strconv.ParseFloat(lo, 64)
	to, err2 := strconv.ParseFloat(hi, 64)
	x, err3 := strconv.ParseFloat(value, 64)
	return err1 == nil && err2 == nil && err3 == nil && from <= x && x <= to
}

// typeOf returns the type of a value that is written as in SQL.
func typeOf(value string) string {
	switch {
	case value == "NULL":
		return "NULL"
	case strings.HasPrefix(value, "'"):
		return "TEXT"
	case strings.HasPrefix(value, "X'"):
		return "BLOB"
	case strings.ContainsAny(value, ".eEIN"): // Inf and NaN too
		return "REAL"
	}
	return "INTEGER"
}

// matches reports whether s matches pattern, in which ... stands for any text.
func matches(pattern, s string) bool {
	parts := strings.Split(pattern, "...")
	last := len(parts) - 1
	if last == 0 {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, part := range parts[1:last] {
		if ok {
			_, s, ok = strings.Cut(s, part)
		}
	}
	return ok && strings.HasSuffix(s, parts[last])
}

// unquote returns the text of an SQL literal.
func unquote(s string) string {
	if typeOf(s) != "TEXT" {
		return s
	}
	return strings.ReplaceAll(strings.TrimSuffix(s[1:], "'"), "''", "'")
}
