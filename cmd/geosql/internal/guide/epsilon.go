package guide

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

const placeEpsilonText = `Every released location has noise. Epsilon, per metre, says how much: the smaller, the more noise,
and the less an answer tells. The table has its error in metres, and its effect on a belief of 50 %
that somebody is at one of two places and not at the other, which are so far apart:`

// askPlaceEpsilon asks how accurate a released location has to be.
func (t *Task) askPlaceEpsilon(ctx context.Context, p *placePlan) error {
	t.talk.tell(placeEpsilonText)
	t.talk.show(placeTable(p.domain), "rrrrr")
	usual := usualRadius(p.domain, p.box.stepM)
	t.talk.tell(fmt.Sprintf("Beliefs are at most that. Several releases about one person add up their epsilons. %s m, the default, is a hundredth of the box: a map of it keeps its shape, and a place is hidden among those around it.", usual))
	return t.askEpsilon(ctx, epsilonQuestion{
		direct: "epsilon", by: "epsilon-for",
		text: "95 % of released locations within how many metres? (or eps E)", preset: usual,
		need: "use --epsilon-for METRES or --epsilon E",
		of: func(radius float64) (*big.Rat, error) {
			return planar.LaplaceLaw.EpsilonFor(p.domain, radius, 0.95)
		},
		take: func(eps *big.Rat) error {
			a := planar.LaplaceLaw.On(p.domain, eps)
			within, err := a.Radius(0.95)
			if err != nil {
				return err
			}
			p.epsilon = eps
			t.talk.say("epsilon %s per metre: 95 %% of the released locations are within %s m, the average is %s m off", cli.FormatRational(eps), brief(within), brief(a.Mean()))
			return nil
		},
	})
}

const epsilonHelp = "Write how far from the truth an answer may be, which makes the epsilon, or eps and the epsilon itself, such as eps 0.01. Smaller errors tell more about people. " +
	"Every answer may have another epsilon later: limits are reckoned in this one, and the questions at the end have it."

// usualRadius returns a hundredth of the shorter side of a domain, from 1 to 5000 m and at least twice the step.
func usualRadius(d *planar.Domain, step float64) string {
	low, high := d.Extent()
	side := float64(min(high.I-low.I, high.J-low.J)) * step
	return decimal.Format(max(nice(min(max(side/100, 1), 5000)), 2*step))
}

// placeTable shows the effects of some epsilons of a location on a domain.
func placeTable(d *planar.Domain) [][]string {
	rows := [][]string{
		{"epsilon", "mean error", "95 % within", "100 m apart", "1 km apart"},
	}
	diagonal := d.Step() * math.Sqrt2
	for _, text := range []string{"0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001", "0.0005"} {
		eps, _ := new(big.Rat).SetString(text)
		a := planar.LaplaceLaw.On(d, eps)
		within, err := a.Radius(0.95)
		if err != nil {
			continue
		}
		e, _ := eps.Float64()
		rows = append(rows, []string{text, brief(a.Mean()), brief(within), beliefText(e * (100 + diagonal)), beliefText(e * (1000 + diagonal))})
	}
	return rows
}

// beliefText says how large the belief in one of two cases may be after an answer, given the privacy loss, if it was one
// half before.
func beliefText(loss float64) string {
	belief := 100 / (1 + math.Exp(-loss))
	switch {
	case belief >= 99.95:
		return "over 99.9 %"
	case belief >= 99:
		return strconv.FormatFloat(belief, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(belief, 'f', 0, 64) + " %"
}

// brief returns a number with two digits, or all of its whole ones.
func brief(x float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return decimal.Format(x)
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(math.Abs(x)))))
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', min(decimals, 12), 64), 64)
	return decimal.Format(rounded)
}

// An epsilonQuestion asks for an epsilon or for the accuracy that it has to give.
type epsilonQuestion struct {
	direct, by string // flags for both
	text, need string
	preset     string                                 // an accuracy
	of         func(radius float64) (*big.Rat, error) // the epsilon of an accuracy
	take       func(eps *big.Rat) error
}

// askEpsilon asks for an epsilon or for the accuracy that it has to give.
func (t *Task) askEpsilon(ctx context.Context, q epsilonQuestion) error {
	if t.Given[q.direct] != nil {
		return t.talk.settle(ctx, question{flag: q.direct, accept: func(answer string) error { return takeEpsilon(answer, q.take) }})
	}
	return t.talk.settle(ctx, question{flag: q.by, text: q.text, open: true, preset: q.preset, need: q.need, help: epsilonHelp, accept: func(answer string) error {
		if text, direct := cutWord(answer, "eps"); direct && t.Given[q.by] == nil {
			return takeEpsilon(text, q.take)
		}
		radius, err := cli.Number(answer)
		if err != nil {
			return err
		}
		if radius <= 0 {
			return errors.New("it must be above 0")
		}
		eps, err := q.of(radius)
		if err != nil {
			return err
		}
		return q.take(roundUp(eps))
	}})
}

// cutWord cuts a word and its separators off the beginning of a text.
func cutWord(text, word string) (rest string, found bool) {
	if len(text) <= len(word) || text[:len(word)] != word {
		return text, false
	}
	return cli.TrimBlanks(text[len(word):]), true
}

// takeEpsilon takes an epsilon that was given itself.
func takeEpsilon(text string, take func(*big.Rat) error) error {
	eps, err := cli.Rational(text)
	if err == nil && eps.Sign() <= 0 {
		err = errors.New("epsilon must be above 0")
	}
	if err == nil {
		_, err = budget.Cost(eps)
	}
	if err != nil {
		return err
	}
	return take(eps)
}

// roundUp rounds an epsilon up to three significant digits, so that it can be read and typed. It
// keeps the accuracy.
func roundUp(eps *big.Rat) *big.Rat {
	x, _ := eps.Float64()
	decimals := 2 - int(math.Floor(math.Log10(x)))
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(decimals, 0))), nil))
	scaled := new(big.Rat).Mul(eps, scale)
	whole := new(big.Int).Div(new(big.Int).Add(scaled.Num(), new(big.Int).Sub(scaled.Denom(), big.NewInt(1))), scaled.Denom())
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
}

// readingTable shows the effects of some epsilons of a reading in a universe.
func readingTable(u *scalar.Universe, rows int64) [][]string {
	lo, hi := u.Value(0), u.Value(u.Last())
	near, far := nice((hi-lo)/100), nice((hi-lo)/10)
	table := [][]string{
		{"", "95 % of", "95 % of", "95 % of", "belief in", "belief in"},
		{"", "sums", "means", "readings", "readings", "readings"},
		{"epsilon", "within", "within", "within", decimal.Format(near) + " apart", decimal.Format(far) + " apart"},
	}
	for _, factor := range []float64{100, 30, 10, 3, 1, 0.3} {
		text := decimal.Format(nice(factor / (hi - lo)))
		eps, _ := new(big.Rat).SetString(text)
		row := []string{text}
		for _, a := range []scalar.Aggregate{scalar.Sum, scalar.Avg, scalar.Value} {
			row = append(row, radiusText(a, u, eps, rows))
		}
		e, _ := eps.Float64()
		table = append(table, append(row, beliefText(e*near), beliefText(e*far)))
	}
	return table
}

// radiusText says how far from the truth an answer is with probability 0.95.
func radiusText(a scalar.Aggregate, u *scalar.Universe, eps *big.Rat, rows int64) string {
	r, err := radiusOf(a, u, eps, rows)
	if err != nil {
		return "?"
	}
	return brief(r)
}

func radiusOf(a scalar.Aggregate, u *scalar.Universe, eps *big.Rat, rows int64) (float64, error) {
	q, err := scalar.NewQuery(a, u, budget.D1, eps)
	if err != nil {
		return 0, err
	}
	return q.Radius(0.95, rows)
}

// nice returns the number of 1, 2 and 5 times a power of ten that is next below x.
func nice(x float64) float64 {
	exponent := math.Floor(math.Log10(x) + 1e-9)
	base := math.Pow(10, exponent)
	digit := 1.0
	for _, d := range []float64{2, 5} {
		if x >= d*base*(1-1e-9) {
			digit = d
		}
	}
	x, _ = strconv.ParseFloat(fmt.Sprintf("%ge%d", digit, int(exponent)), 64)
	return x
}
