package guide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger"
)

// A limit is the limit of every account in a unit.
type limit struct {
	unit   budget.Unit
	amount *big.Rat
	window int64 // seconds; 0: never reopens
	kept   bool  // it is that of the ledger, and stays
}

const limitText = `A limit is how much epsilon every account may be charged in all: then its releases are refused.
Write the epsilon, or how many releases it is to allow, such as 4x, which is enough for the questions at the end. The effect of
all of them together on a belief follows from the limit as from an epsilon in the table above.`

// askLimits asks for the limits.
func (t *Task) askLimits(ctx context.Context, p *plan) error {
	t.talk.tell(limitText)
	if p.place != nil {
		if err := t.askLimit(ctx, p, limitQuestion{"limit", budget.Metre, "metre", p.place.epsilon, "release"}); err != nil {
			return err
		}
	}
	if r := p.reading; r != nil {
		unit := r.universe.Unit()
		if err := t.askLimit(ctx, p, limitQuestion{"reading-limit", unit, string(unit), r.epsilon, "answer"}); err != nil {
			return err
		}
	}
	if err := t.askRecordLimit(ctx, p); err != nil {
		return err
	}
	return t.askWindow(ctx, p)
}

// A limitQuestion asks for the limit of a unit, in which a release costs epsilon.
type limitQuestion struct {
	flag    string
	unit    budget.Unit
	per     string
	epsilon *big.Rat
	what    string // a release or an answer
}

// askLimit asks for the limit of a unit. One that the ledger has stays unless the answer is
// another.
func (t *Task) askLimit(ctx context.Context, p *plan, q limitQuestion) error {
	known := t.knownLimit(q.unit, "")
	if known == "" && p.mostRows > 1 && q.what == "release" {
		all := new(big.Rat).Mul(q.epsilon, big.NewRat(p.mostRows, 1))
		t.talk.tell(fmt.Sprintf("To release every location of the account that has most once would take %s per metre.", cli.FormatRational(all)))
	}
	return t.talk.settle(ctx, question{flag: q.flag, preset: cmp.Or(known, "4x"), open: known == "",
		text: "Limit of every account, per " + q.per + " (4x is " + cli.FormatRational(times(q.epsilon, 4)) + ")",
		help: "A limit can be raised later with budget_limit, but no release can be taken back. It is the promise to everybody, so a small one is a good start. " +
			"The limit of an earlier file stays unless another is written.",
		need: "use --" + q.flag + " E, or such as --" + q.flag + " 4x for four " + q.what + "s",
		accept: func(answer string) error {
			amount, err := limitAmount(answer, q.epsilon)
			if err != nil {
				return err
			}
			allowed := floor(new(big.Rat).Quo(amount, q.epsilon))
			if allowed < 1 {
				return fmt.Errorf("that allows not even one %s at epsilon %s", q.what, cli.FormatRational(q.epsilon))
			}
			t.talk.say("limit %s per %s: %s at epsilon %s for every account", cli.FormatRational(amount), q.per, cli.Count(allowed, q.what), cli.FormatRational(q.epsilon))
			t.addLimit(p, q.unit, amount)
			return nil
		}})
}

// knownLimit returns the limit that the ledger has for every account in a unit, or else another text.
func (t *Task) knownLimit(unit budget.Unit, otherwise string) string {
	if known, has := t.known.limits[unit]; has {
		return cli.FormatRational(known.amount)
	}
	return otherwise
}

// addLimit adds a limit to a plan, which stays as it is if the ledger has it.
func (t *Task) addLimit(p *plan, unit budget.Unit, amount *big.Rat) {
	known, has := t.known.limits[unit]
	p.limits = append(p.limits, limit{unit: unit, amount: amount, window: known.window, kept: has && amount.Cmp(known.amount) == 0})
}

// times returns n times x.
func times(x *big.Rat, n int64) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(n, 1)) }

// floor returns the whole part of a fraction above 0.
func floor(x *big.Rat) int64 {
	n := new(big.Int).Div(x.Num(), x.Denom())
	if !n.IsInt64() {
		return 1 << 62
	}
	return n.Int64()
}

// limitAmount parses an epsilon, or a number of releases such as 4x.
func limitAmount(text string, epsilon *big.Rat) (*big.Rat, error) {
	var amount *big.Rat
	if number, releases := strings.CutSuffix(text, "x"); releases {
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		if err != nil || n < 1 {
			return nil, errors.New("write a number of releases like 4x")
		}
		amount = times(epsilon, n)
	} else {
		var err error
		if amount, err = cli.Rational(text); err != nil {
			return nil, err
		}
	}
	if amount.Sign() <= 0 {
		return nil, errors.New("a limit must be above 0")
	}
	if _, err := budget.Limit(amount); err != nil {
		return nil, err
	}
	return amount, nil
}

const recordText = `Counts of people and heat maps protect whether somebody is there at all. They have a budget of
their own, record. For a question 1 is usual: epsilon 1 makes an answer at most 2.7 times
as likely with somebody as without, and a belief of 50 % at most 73 %. The answer none refuses such questions until there is
a limit, which budget_limit sets.`

// askRecordLimit asks for the limit of counts and heat maps.
func (t *Task) askRecordLimit(ctx context.Context, p *plan) error {
	t.talk.tell(recordText)
	return t.talk.settle(ctx, question{flag: "record-limit", preset: t.knownLimit(budget.Record, none), text: "Limit of every account, per record, or none",
		help: "1 allows one count of people or one heat map at epsilon 1, 4 allows four. They are worth it for hundreds of people: the noise of a count is a few people at epsilon 1, however many there are.",
		accept: func(answer string) error {
			if strings.EqualFold(answer, none) {
				return nil
			}
			amount, err := limitAmount(answer, big.NewRat(1, 1))
			if err == nil {
				t.addLimit(p, budget.Record, amount)
			}
			return err
		}})
}

const windowText = `A limit can hold forever, or for a window of time after which it reopens. Reopening is a policy, not
part of the proof: losses add up across windows if the secrets in them are related.`

// askWindow asks when the new limits reopen.
func (t *Task) askWindow(ctx context.Context, p *plan) error {
	t.talk.tell(windowText)
	return t.talk.settle(ctx, question{flag: "window", preset: "never", text: "Limits reopen: never, or after seconds, or such as 30d",
		help: "never is the promise that can be proved. A window of 30d lets data that arrive every month be asked about every month, and the losses of all windows add up.",
		accept: func(answer string) error {
			seconds, err := windowSeconds(answer)
			if err != nil {
				return err
			}
			for i := range p.limits {
				l := &p.limits[i]
				if !l.kept {
					l.window = seconds
				} else if t.Given["window"] != nil && l.window != seconds {
					l.window, l.kept = seconds, false
				}
			}
			return nil
		}})
}

// windowSeconds parses a window: never, seconds, or days such as 30d.
func windowSeconds(text string) (int64, error) {
	if strings.EqualFold(text, "never") {
		return 0, nil
	}
	days, isDays := strings.CutSuffix(text, "d")
	n, err := strconv.ParseInt(days, 10, 64)
	if isDays && n < 1e6 {
		n *= 86400
	}
	if err != nil || n < 1 || n > ledger.MaxWindow {
		return 0, errors.New("write never, a number of seconds, or days such as 30d")
	}
	return n, nil
}
