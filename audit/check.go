package audit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkTrials is how many trials a check makes.
const checkTrials = 32

// check compares what is not random: it has to be the same for both inputs, whatever the secrets are.
func (p *probe) check(ctx context.Context) error {
	for _, f := range []func(context.Context) error{p.checkAnswers, p.checkRefusals, p.checkDryRuns, p.checkDependence} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A transcript is what a statement shows beside the numbers that it releases.
type transcript struct {
	rows  int
	kinds []string // the types of its columns, of all rows together
	err   string
	cost  float64
}

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
		t.err = err.Error()
	}
	for k := range kinds {
		t.kinds = append(t.kinds, k)
	}
	slices.Sort(t.kinds)
	after, err := p.database.Spent(ctx, p.accounts(), p.unit)
	t.cost = after - before
	return t, err
}

// checkAnswers compares types, numbers of rows, charges and errors of the attack's statement.
func (p *probe) checkAnswers(ctx context.Context) error {
	var seen [2]transcript
	for input := range seen {
		t, err := p.transcribe(ctx, p.query(input, p.take(input, checkTrials)), func([]any) {})
		if err != nil {
			return err
		}
		seen[input] = t
		p.charged[input] = t.cost / checkTrials
		p.spent += t.cost
	}
	a, b := seen[0], seen[1]
	switch {
	case a.err != b.err:
		p.violated(Violation{Check: failures, What: fmt.Sprintf("an error depends on a secret: %q with the one input, %q with the other", a.err, b.err)})
	case a.err != "":
		return fmt.Errorf("the attack's own statement fails: %s", a.err)
	case a.rows != b.rows:
		p.violated(Violation{Check: rowCount, What: fmt.Sprintf("the number of rows depends on a secret: %d and %d", a.rows, b.rows)})
	case a.rows != checkTrials:
		return fmt.Errorf("%d trials have %d answers", checkTrials, a.rows)
	case !slices.Equal(a.kinds, b.kinds):
		p.violated(Violation{Check: types, What: fmt.Sprintf("the type of an answer depends on a secret: %s, and %s", a.kinds, b.kinds)})
	case max(a.cost, b.cost) == 0:
		p.violated(Violation{Check: charges, What: "nothing is charged"})
	}
	if p.claim.most == 0 && !p.uneven && a.cost != b.cost {
		p.violated(Violation{Check: charges, What: fmt.Sprintf("a charge depends on a secret: %v and %v", a.cost, b.cost)})
	}
	return nil
}

// take returns further trials with an input.
func (p *probe) take(input, n int) trials {
	t := trials{p.next[input], n}
	p.next[input] += n
	return t
}

var accountArgument = regexp.MustCompile(`\baccount\b`)

// checkRefusals compares what a statement says that an account cannot pay for. It must charge nothing either.
func (p *probe) checkRefusals(ctx context.Context) error {
	if p.fixture.sealed != nil || !accountArgument.MatchString(p.answer) {
		return nil
	}
	var seen [2]transcript
	for input := range seen {
		sql := accountArgument.ReplaceAllString(p.query(input, trials{count: 1}), "'blocked'")
		t, err := p.transcribe(ctx, sql, func([]any) {})
		if err != nil {
			return err
		}
		seen[input] = t
	}
	switch {
	case seen[0].err == "" || seen[1].err == "":
		p.violated(Violation{Check: refusals, What: "an account that is blocked was charged, or its answer was free"})
	case !strings.EqualFold(seen[0].err, seen[1].err):
		p.violated(Violation{Check: refusals, What: fmt.Sprintf("a refusal depends on a secret: %q and %q", seen[0].err, seen[1].err)})
	}
	return nil
}

// dryRuns is how often a dry run is repeated.
const dryRuns = 8

// checkDryRuns asks what a statement would cost that draws again only where a first answer is large. A dry run
// draws nothing, so it must say the same each time, with both inputs, and charge nothing.
func (p *probe) checkDryRuns(ctx context.Context) error {
	if p.fixture.sealed != nil {
		return nil
	}
	var said string
	for i := range 2 * dryRuns {
		sql := p.query(i%2, trials{0, checkTrials})
		var rows []string
		t, err := p.transcribe(ctx, "SELECT account, unit, evaluations, epsilon FROM budget_cost("+quote(p.conditional(sql))+")", func(row []any) {
			rows = append(rows, fmt.Sprint(row...))
		})
		if err != nil {
			return err
		}
		now := fmt.Sprint(rows, t.err)
		switch {
		case t.cost != 0:
			p.violated(Violation{Check: dryRunning, What: fmt.Sprintf("a dry run charged %v", t.cost)})
		case i > 0 && said != now && !p.uneven:
			p.violated(Violation{Check: dryRunning, What: fmt.Sprintf("a dry run draws, or depends on a secret: it said %q and %q", said, now)})
		}
		said = now
	}
	return nil
}

// conditional returns a statement that releases something else for each answer of another statement that is above the first.
func (p *probe) conditional(sql string) string {
	return "WITH a(z) AS MATERIALIZED (" + sql + ") SELECT " + p.fixture.release + " FROM a WHERE z > (SELECT z FROM a LIMIT 1)"
}

// quote returns a text as SQL writes it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
