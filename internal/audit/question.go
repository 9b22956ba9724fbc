package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/audit/bound"
)

// A server of sealed databases gives an answer again that it has given: to the same question, and about the same
// rows. Anything else would be an answer that nobody has paid for.

// checkQuestions asks the same question again, and then others about the same rows.
func (p *probe) checkQuestions(ctx context.Context) error {
	if p.fixture.sealed == nil {
		return nil
	}
	t := p.take(0, checkTrials)
	full := p.charged[0] * p.trialsCharged(checkTrials)
	questions := []struct{ is, sql string }{
		{"a question", p.query(0, t)},
		{"the same question", p.query(0, t)},
		{"a question with another epsilon", p.queryFor(p.alike, 0, t)},
	}
	if p.aggregates() {
		questions = append(questions, struct{ is, sql string }{"a question about fewer rows", p.withoutBen(t)})
	}
	var first []string
	for i, q := range questions {
		var rows []string
		seen, err := p.transcribe(ctx, q.sql, func(row []any) { rows = append(rows, outcome(row).Text) })
		switch {
		case err != nil:
			return err
		case seen.err != "":
			return fmt.Errorf("%s fails: %s", q.is, seen.err)
		}
		p.spent += seen.cost
		slices.Sort(rows)
		if i == 0 {
			first = rows
		}
		switch paid := seen.cost >= full*(1-1e-6); {
		case paid:
		case i != 1:
			p.violates(charges, "%s costs %v, not %v", q.is, seen.cost, full)
		case seen.cost != 0 || !slices.Equal(rows, first):
			p.violates(charges, "answers that are asked for again cost %v, and are others: %s, not %s", seen.cost, rows, first)
		}
	}
	return nil
}

// aggregates reports whether an answer is about all rows of a trial: those of more than one account.
func (p *probe) aggregates() bool { return len(p.inputs[0]) > 1 }

// withoutBen returns a statement without the rows of the account that all trials have in common.
func (p *probe) withoutBen(t trials) string {
	common := fmt.Sprintf("SELECT account FROM %s GROUP BY account HAVING count(*) > 2", p.table(0))
	return p.expand("SELECT "+p.answer+" "+p.from+" WHERE account NOT IN ("+common+") "+p.group, 0, t)
}

// pairsOfSets draws answers of sealed aggregates about sets of rows, one within the other.
func (p *probe) pairsOfSets(ctx context.Context) ([][2]bound.Outcome, error) {
	if p.fixture.sealed == nil || !p.aggregates() {
		return nil, nil
	}
	t := p.take(0, p.pairs())
	var lists [2][]bound.Outcome
	for i, sql := range []string{p.query(0, t), p.withoutBen(t)} {
		p.pay(0, p.pairs())
		var err error
		if lists[i], err = outcomes(ctx, p.session, sql); err != nil {
			return nil, err
		}
	}
	return pairUp(lists[0], lists[1]), nil
}
