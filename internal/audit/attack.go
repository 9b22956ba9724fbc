package audit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
	"github.com/geosql/geosql/internal/audit/host"
)

// A fixture describes the databases for the attacks on some functions.
type fixture struct {
	name    string
	declare []string // SQL
	release string   // an expression that releases something to an account of its own

	// sealed says which columns of the secrets' tables are sealed; none for a plain database. In a sealed
	// one every trial has rows of its own, since an answer about the same rows is given again.
	sealed []string
}

// An attack is a pair of inputs that differ in the secrets of one account, and a statement about them.
//
// Its texts are SQL with names in braces: {rows} is a table with the columns and the number of the trial, and {NAME} is
// an account that no other attack has, such as {ana}. {each} is an expression for an account that
// no other trial has.
type attack struct {
	function string // as in the function table
	pair     string // the speciality of the inputs
	fixture  *fixture

	columns string      // of a row, such as "account, x"
	inputs  [2][]string // rows, such as "{ana}, 3"; the account with different secrets is {ana} or {each}
	answer  string      // the released expression
	alike   string      // the same, written in another way; none where a trial can have one answer only
	from    string      // "FROM {rows}" and the rest
	group   string      // the end: GROUP BY trial for an aggregate

	unit   string
	claim  claim
	uneven bool // the inputs have different numbers of rows, which is public where it is charged
	shared bool // each trial has rows of its own, and all trials of a statement are charged once
	hints  []bound.Score

	never string // a statement about the trials of the first check, which has no row unless a charge is missing; empty for none

	grid   func(row []any) bool // reports whether an answer may be given at all, by public facts; nil if that is not known
	smooth *smooth              // where answers are so fine that a generator with few bits would show
}

// A smooth says that the law of an answer is smooth on a fine lattice.
type smooth struct {
	of   func(row []any) (index int64, ok bool) // of the lattice, not ok where answers are clamped
	rate float64                                // the logarithm of the probability changes by no more from one index to the next
}

// filled reports whether the tables of an attack have rows for each trial.
func (a *attack) filled() bool { return a.shared || a.fixture.sealed != nil }

// A claim says which loss may be between the two inputs of an attack.
type claim struct {
	kind     bound.Kind
	distance float64 // between the inputs, in the measure of the unit; squared for [bound.Renyi]
	most     float64 // the largest charge for a trial, where that depends on draws; 0 if it is always the same
}

// limit returns the largest loss that a charge allows.
func (c claim) limit(charged float64) float64 { return max(charged, c.most) * c.distance }

// perDistance returns the charge that a loss requires. Where nothing may tell the inputs apart, it is the loss
// itself.
func (c claim) perDistance(loss float64) float64 {
	if c.distance == 0 {
		return loss
	}
	return loss / c.distance
}

// A placed attack is one that has a number of its own in a run.
type placed struct {
	attack
	number int
}

// table returns the name of the table with the secrets of an input.
func (p *placed) table(input int) string { return fmt.Sprintf("secret_%d_%d", p.number, input) }

// accounts returns a pattern for the accounts with different secrets.
func (p *placed) accounts() string { return fmt.Sprintf("c%d-ana*", p.number) }

// trials are the numbers of the trials that a statement makes: count of them, after skip.
type trials struct{ skip, count int }

var braces = regexp.MustCompile(`\{\w+\}`)

// expand replaces the names in braces.
func (p *placed) expand(sql string, input int, t trials) string {
	return braces.ReplaceAllStringFunc(sql, func(name string) string {
		switch name = name[1 : len(name)-1]; name {
		case "rows":
			return p.rows(input, t)
		case "each":
			return fmt.Sprintf("('c%d-ana-%d-' || (trial + %d))", p.number, input, t.skip)
		default:
			return fmt.Sprintf("'c%d-%s'", p.number, name)
		}
	})
}

// rows returns the table of the rows of an input, in each of a number of trials.
func (p *placed) rows(input int, t trials) string {
	switch {
	case p.shared:
		return fmt.Sprintf("(SELECT * FROM %s WHERE trial <= %d)", p.table(input), t.count)
	case p.filled():
		return fmt.Sprintf("(SELECT * FROM %s WHERE trial BETWEEN %d AND %d)", p.table(input), t.skip+1, t.skip+t.count)
	}
	return fmt.Sprintf("(SELECT * FROM trial CROSS JOIN %s WHERE trial <= %d)", p.table(input), t.count)
}

// query returns a statement that answers each trial with a row.
func (p *placed) query(input int, t trials) string { return p.queryFor(p.answer, input, t) }

// queryFor returns a statement that answers each trial with the given expressions.
func (p *placed) queryFor(answers string, input int, t trials) string {
	return p.expand("SELECT "+answers+" "+p.from+" "+p.group, input, t)
}

// Sizes of the table of trials.
const (
	plainTrials  = 1 << 14 // a statement has no more of them
	sealedTrials = 1 << 13 // an audit of a sealed database has no more of them
)

// setup returns the tables of a fixture for some attacks on it.
func (f *fixture) setup(attacks []*placed) host.Setup {
	s := host.Setup{SQL: append([]string(nil), f.declare...), Repeat: 2}
	s.SQL = append(s.SQL, `BEGIN`, `CREATE TABLE trial(trial INTEGER PRIMARY KEY)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < `+strconv.Itoa(plainTrials)+`) INSERT INTO trial SELECT i FROM n`)
	for _, p := range attacks {
		for input, rows := range p.inputs {
			s.SQL = append(s.SQL, p.fill(input, rows)...)
			if f.sealed != nil {
				s.Sealed = append(s.Sealed, host.Sealed{Table: p.table(input), Columns: f.sealed, Later: strings.Contains(p.columns, "later")})
			}
		}
	}
	s.SQL = append(s.SQL, `COMMIT`)
	return s
}

// fill returns the statements that make and fill the table of an input.
func (p *placed) fill(input int, rows []string) []string {
	columns, each := p.columns, ""
	if p.filled() {
		columns, each = "trial INTEGER, "+columns, "trial.trial, "
	}
	list := []string{fmt.Sprintf("CREATE TABLE %s(%s)", p.table(input), columns)}
	for _, row := range rows {
		insert := fmt.Sprintf("INSERT INTO %s SELECT %s%s", p.table(input), each, p.expand(row, input, trials{}))
		if each != "" {
			insert += fmt.Sprintf(" FROM trial WHERE trial <= %d", sealedTrials)
		}
		list = append(list, insert)
	}
	if p.shared {
		list = append(list, fmt.Sprintf("CREATE INDEX %s_trial ON %[1]s(trial)", p.table(input)))
	}
	return list
}

// String names the attack.
func (p *placed) String() string { return p.function + ": " + strings.TrimSpace(p.pair) }
