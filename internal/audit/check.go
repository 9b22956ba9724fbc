package audit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/geosql/geosql/internal/audit/host"
	"github.com/geosql/geosql/internal/sqltext"
)

// checkTrials is how many trials a check makes.
const checkTrials = 32

// check compares the parts without randomness: they have to be the same for both inputs, for all secrets.
func (p *probe) check(ctx context.Context) error {
	for _, f := range []func(context.Context) error{p.checkAnswers, p.checkNever, p.checkRefusals, p.checkExhaustion, p.checkDryRuns, p.checkQuestions, p.checkDependence} {
		if p.over {
			return nil
		}
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A transcript is the output of a statement beside the numbers that it releases.
type transcript struct {
	rows  int
	kinds []string // the types of its columns, of all rows together
	err   string
	cost  float64
	said  string // by a server, in notices
}

// accountNames matches the differing parts of the names of the accounts of two inputs or trials.
var accountNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bc\d+-(\w+)(-[01](-\d+)?)?\b`) })

// anonymous returns a text in which all accounts of the same person have the same name.
func anonymous(text string) string { return accountNames().ReplaceAllString(text, "$1") }

// ending says how a statement ended.
func (t transcript) ending() string {
	if t.err != "" {
		return fmt.Sprintf("the error %q", t.err)
	}
	return fmt.Sprintf("%d rows", t.rows)
}

// near reports whether two sums in a ledger are equal. The sums that a host answers are rounded.
func near(a, b, total float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(total)) }

// transcribe runs a statement and returns its transcript.
func (p *probe) transcribe(ctx context.Context, sql string, keep func([]any)) (t transcript, err error) {
	before, err := p.database.Spent(ctx, p.accounts(), p.unit)
	if err != nil {
		return t, err
	}
	kinds := map[string]bool{}
	err = p.session.Query(ctx, sql, func(row []any) error {
		t.rows++
		for i, v := range row {
			kinds[fmt.Sprint(i, " ", kind(v))] = true
		}
		keep(row)
		return nil
	})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.err = anonymous(err.Error())
	}
	if s, ok := p.session.(host.Noticer); ok {
		t.said = strings.Join(s.Notices(), "; ")
	}
	t.kinds = slices.Sorted(maps.Keys(kinds))
	after, err := p.database.Spent(ctx, p.accounts(), p.unit)
	t.cost = after - before
	return t, err
}

// checkAnswers compares types, numbers of rows, charges and errors of the attack's statement.
func (p *probe) checkAnswers(ctx context.Context) error {
	var seen [2]transcript
	for input := range seen {
		t, err := p.transcribe(ctx, p.query(input, p.take(input, checkTrials)), func(row []any) { p.columns = len(row) })
		if err != nil {
			return err
		}
		seen[input] = t
		p.spent += t.cost
		p.charged[input] = t.cost
		if !p.shared {
			p.charged[input] /= checkTrials
		}
	}
	a, b := seen[0], seen[1]
	if a.ending() != b.ending() {
		return p.checkEndings(ctx)
	}
	switch {
	case a.err != "":
		return fmt.Errorf("the attack's own statement fails: %s", a.err)
	case a.rows != checkTrials:
		return fmt.Errorf("%d trials have %d answers", checkTrials, a.rows)
	case !slices.Equal(a.kinds, b.kinds) && len(a.kinds) == p.columns && len(b.kinds) == p.columns:
		p.violates(types, "the type of an answer depends on a secret: %s, and %s", a.kinds, b.kinds)
	case max(a.cost, b.cost) == 0:
		p.violates(charges, "nothing is charged")
	}
	if a.said != b.said && !p.uneven {
		p.violates(failures, "a notice depends on a secret: %q and %q", a.said, b.said)
	}
	if p.claim.most == 0 && !p.uneven && !near(a.cost, b.cost, p.spent) {
		p.violates(charges, "a charge depends on a secret: %v and %v", a.cost, b.cost)
	}
	return nil
}

// checkNever looks for missing charges, in the tables for the owner.
func (p *probe) checkNever(ctx context.Context) error {
	if p.never == "" {
		return nil
	}
	for input := range 2 {
		err := p.session.Query(ctx, p.expand(p.never, input, trials{count: checkTrials}), func(row []any) error {
			p.violated(Violation{Check: charges, What: fmt.Sprint(row...)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endings is how many trials with each input tell that a difference is no chance.
const endings = 24

// checkEndings repeats the attack's statement, after a number of trials ended differently for the two inputs. If each
// trial with an input ends in its own way, the difference is a violation; if not, the draws have to tell.
func (p *probe) checkEndings(ctx context.Context) error {
	var ways [2]map[string]bool
	for input := range ways {
		ways[input] = map[string]bool{}
		p.charged[input] = 0
		for range endings {
			t, err := p.transcribe(ctx, p.query(input, p.take(input, 1)), func(row []any) { p.columns = len(row) })
			if err != nil {
				return err
			}
			ways[input][t.ending()] = true
			p.charged[input] = max(p.charged[input], t.cost)
		}
	}
	p.unsure, p.single = true, true
	a, b := slices.Sorted(maps.Keys(ways[0])), slices.Sorted(maps.Keys(ways[1]))
	if len(a) == 1 && len(b) == 1 && a[0] != b[0] {
		p.over = true
		p.violates(failures, "how a statement ends depends on a secret: %s with the one input, %s with the other", a[0], b[0])
	}
	return nil
}

// accountArgument matches the account's column, also of a row with the alias r, and an account that no other trial has.
var accountArgument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(r\.)?account\b|\('c\d+-ana-\d-' \|\| \(trial \+ \d+\)\)`)
})

// askedBy returns a statement of one trial in which another account pays.
func (p *probe) askedBy(account string, input int) string {
	return accountArgument().ReplaceAllString(p.query(input, trials{count: 1}), account)
}

// refusable reports whether another account can be made to pay.
func (p *probe) refusable() bool {
	return p.fixture.sealed == nil && accountArgument().MatchString(p.query(0, trials{count: 1})) && !strings.Contains(p.answer+p.from, "AS account")
}

// checkRefusals compares the output of a statement that an account cannot pay for. It must charge nothing either.
func (p *probe) checkRefusals(ctx context.Context) error {
	if !p.refusable() {
		return nil
	}
	var seen [2]transcript
	free := false
	for input := range seen {
		t, err := p.transcribe(ctx, p.askedBy("'blocked'", input), func([]any) {})
		if err != nil {
			return err
		}
		seen[input] = t
		free = free || t.err == "" && p.charged[input] > 0
	}
	switch {
	case free:
		p.violates(refusals, "an account that is blocked was charged, or its answer was free")
	case seen[0].err != seen[1].err && !p.uneven:
		p.violates(refusals, "a refusal depends on a secret: %q and %q", seen[0].err, seen[1].err)
	}
	return nil
}

// checkExhaustion compares when, and with which words, an account is refused when its budget ends. The rest is
// half of an answer after the second.
func (p *probe) checkExhaustion(ctx context.Context) error {
	if !p.refusable() || p.uneven || strings.Contains(p.answer+p.from, "{each}") {
		return nil
	}
	var seen [2][]string
	for input := range seen {
		account := fmt.Sprintf("c%d-edge-%d", p.number, input)
		limit := func(epsilon float64) error {
			return p.session.Query(ctx, fmt.Sprintf("SELECT budget_limit('%s', '%s', %v)", account, p.unit, epsilon), func([]any) error { return nil })
		}
		if err := limit(1000); err != nil {
			return err
		}
		for i := range 4 {
			t, err := p.transcribe(ctx, p.askedBy(sqltext.Quote(account), input), func([]any) {})
			if err != nil {
				return err
			}
			spent, err := p.database.Spent(ctx, account, p.unit)
			if err != nil {
				return err
			}
			seen[input] = append(seen[input], fmt.Sprintf("%s with %.9g spent", t.ending(), spent))
			if i == 0 {
				if err := limit(2.5 * spent); err != nil {
					return err
				}
			}
		}
	}
	for i, a := range seen[0] {
		if b := seen[1][i]; a != b {
			p.violates(refusals, "how a budget ends depends on a secret: answer %d is %s with the one input, and %s with the other", i+1, a, b)
		}
	}
	return nil
}

// dryRuns is how often a dry run is repeated.
const dryRuns = 4

// checkDryRuns asks for the cost of a statement that draws again only where a first answer is large. A dry run
// draws nothing, so it must say the same each time, with both inputs, and charge nothing. Its cost of the attack's own
// statement is the charge for that.
func (p *probe) checkDryRuns(ctx context.Context) error {
	if p.fixture.sealed != nil {
		return nil
	}
	var said string
	for i := range 2 * dryRuns {
		sql := p.query(i%2, trials{p.next[i%2], checkTrials})
		if i >= 2 {
			sql = p.conditional(sql)
		}
		t, rows, cost, err := p.dryRun(ctx, sql)
		if err != nil {
			return err
		}
		now := anonymous(fmt.Sprint(rows, t.err))
		switch charged := p.charged[i%2] * p.trialsCharged(checkTrials); {
		case t.cost != 0:
			p.violates(dryRunning, "a dry run charged %v", t.cost)
		case t.err != "":
			return fmt.Errorf("a dry run fails: %s", t.err)
		case i < 2 && p.claim.most == 0 && !p.unsure && !near(cost, charged, charged):
			p.violates(dryRunning, "a dry run says that a statement costs %v, and it charged %v", cost, charged)
		case i > 0 && i != 2 && said != now && !p.uneven:
			p.violates(dryRunning, "a dry run draws, or depends on a secret: it said %q and %q", said, now)
		}
		said = now
	}
	return nil
}

// dryRun asks for the cost of a statement in all, and for the accounts with different secrets.
func (p *probe) dryRun(ctx context.Context, sql string) (t transcript, rows []string, cost float64, err error) {
	ours := strings.TrimSuffix(p.accounts(), "*")
	t, err = p.transcribe(ctx, "SELECT account, unit, evaluations, epsilon FROM budget_cost("+sqltext.Quote(sql)+") ORDER BY 1, 2", func(row []any) {
		rows = append(rows, fmt.Sprint(row...))
		account, _ := row[0].(string)
		unit, _ := row[1].(string)
		if epsilon, ok := row[3].(float64); ok && unit == p.unit && strings.HasPrefix(account, ours) {
			cost += epsilon
		}
	})
	return t, rows, cost, err
}

// trialsCharged returns how often a statement of some trials is charged.
func (p *probe) trialsCharged(n int) float64 {
	if p.shared {
		return 1
	}
	return float64(n)
}

// conditional returns a statement that releases something else for each answer of another statement that is above the first.
func (p *probe) conditional(sql string) string {
	columns := "z"
	for i := 1; i < p.columns; i++ {
		columns += fmt.Sprintf(", z%d", i)
	}
	return "WITH a(" + columns + ") AS MATERIALIZED (" + sql + ") SELECT " + p.fixture.release + " FROM a WHERE z > (SELECT z FROM a LIMIT 1)"
}
