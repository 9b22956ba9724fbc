package guide

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A readingPlan holds the decisions about the readings of a file.
type readingPlan struct {
	column   string
	declared declaredUniverse
	universe *scalar.Universe
	epsilon  *big.Rat // per unit, of one answer
	readings int64
}

// A declaredUniverse is the declaration of a universe.
type declaredUniverse struct {
	name         string
	lo, hi, step float64
	unit         string
}

func (u declaredUniverse) build() (*scalar.Universe, error) {
	return scalar.NewUniverse(u.name, u.lo, u.hi, u.step, budget.Unit(u.unit))
}

// values returns the values as a flag takes them.
func (u declaredUniverse) values() string { return joined(",", u.lo, u.hi, u.step) }

// An offeredUniverse is a universe that follows from the range of such readings.
type offeredUniverse struct {
	words        string // that a column's name may have
	lo, hi, step float64
	unit, why    string
}

// publicUniverses are facts about meters, bodies and clocks, the smallest of each kind first. None
// depends on anybody's data.
var publicUniverses = []offeredUniverse{
	{"kwh energy consumption usage", 0, 10, 0.001, "kWh", "half an hour of a household, up to 80 A"},
	{"kwh energy consumption usage", 0, 20, 0.001, "kWh", "an hour of a household"},
	{"kwh energy consumption usage", 0, 100, 0.001, "kWh", "a day of a household"},
	{"kwh energy consumption usage", 0, 5000, 0.001, "kWh", "a month of a household"},
	{"wh", 0, 10000, 1, "Wh", "half an hour of a household"},
	{"kw power load", 0, 20, 0.001, "kW", "an 80 A connection"},
	{"w watt watts", 0, 20000, 1, "W", "an 80 A connection"},
	{"volt voltage", 0, 500, 0.01, "V", "mains"},
	{"amp ampere current intensity", 0, 100, 0.1, "A", "the fuse of a household"},
	{"water litre liters litres", 0, 5000, 1, "l", "a day of a household"},
	{"m3 gas", 0, 100, 0.001, "m3", "a day of a household"},
	{"temperature temp celsius", -50, 60, 0.1, "degC", "the weather"},
	{"humidity percent pct share", 0, 100, 0.1, "percent", "a share of 100"},
	{"age years", 0, 120, 1, "years", "a life"},
	{"weight kg", 0, 300, 0.1, "kg", "a body"},
	{"heart pulse bpm", 0, 250, 1, "bpm", "a heart"},
	{"steps", 0, 100000, 1, "steps", "a day"},
	{"speed kmh", 0, 250, 0.1, "km/h", "a road"},
	{"duration minutes min", 0, 1440, 1, "min", "a day"},
	{"duration seconds sec", 0, 86400, 1, "s", "a day"},
	{"distance km", 0, 1000, 0.1, "km", "a day's drive"},
	{"income salary wage", 0, 500000, 1, "money", "a year, before the few higher ones are cut"},
	{"price fare amount cost", 0, 1000, 0.01, "money", "a purchase"},
	{"rating stars score", 0, 5, 0.5, "stars", "a rating"},
}

// offers returns the universes that suit the name of a column.
func offers(column string) (offered []offeredUniverse) {
	words := strings.Split(slug(column), "_")
	for _, u := range publicUniverses {
		for _, known := range strings.Fields(u.words) {
			if slices.Contains(words, known) {
				offered = append(offered, u)
				break
			}
		}
	}
	return offered
}

const universeText = `A universe says which values readings can have: from LO to HI in steps of STEP. It is public, so
take it from public facts, such as the range of a meter, never from the smallest
and largest reading here: these are somebody's. Readings outside are moved to its ends. The
noise of sums and means does not grow with the range, so there is no need to be tight.`

// askReading asks in which universe the readings lie, and for their epsilon.
func (t *Task) askReading(ctx context.Context, p *plan) error {
	r := p.reading
	if r == nil {
		return nil
	}
	offered := t.offeredUniverses(p)
	t.showUniverses(offered)
	err := t.talk.settle(ctx, question{flag: "universe", open: true, preset: firstOf(len(offered)),
		text: "Universe: a number, or LO,HI,STEP", need: "use --universe LO,HI,STEP and --unit UNIT, for the possible values of such readings",
		help: "LO,HI,STEP are the smallest and the largest value that such a reading can have, and the distance between two values: 0,20,0.001 for kWh of an hour, to the watt-hour. " +
			"STEP divides the range. LO,HI,STEP,UNIT says the unit as well.",
		accept: func(answer string) error { return t.takeUniverse(p, offered, answer) }})
	if err != nil {
		return err
	}
	if r.universe == nil {
		if err := t.askUnit(ctx, p); err != nil {
			return err
		}
	}
	t.talk.say("universe %s", r.universe)
	return t.askReadingEpsilon(ctx, r)
}

// offeredUniverses returns the universes to choose from: the declared ones, and public
// ones that suit the name of the column.
func (t *Task) offeredUniverses(p *plan) (offered []offeredUniverse) {
	for _, u := range t.known.universes {
		offered = append(offered, offeredUniverse{u.name, u.lo, u.hi, u.step, u.unit, u.name + ", declared"})
	}
	return append(offered, offers(p.reading.column)...)
}

// showUniverses shows the universes that are offered. Nothing here depends on a reading: a universe that was chosen by them
// would tell of them.
func (t *Task) showUniverses(offered []offeredUniverse) {
	t.talk.tell(universeText)
	var rows [][]string
	for i, u := range offered {
		rows = append(rows, []string{strconv.Itoa(i + 1), joined(",", u.lo, u.hi, u.step), u.unit, "(" + u.why + ")"})
	}
	t.talk.show(rows, "rlll")
}

// clamped returns the share of the readings that lie outside of a universe. It also counts the
// readings.
func (p *plan) clamped(u declaredUniverse) (share float64, err error) {
	var outside, readings int64
	err = load.EachRow(p.data, "counting", func(batch *dataset.Rows, i int) error {
		x, known := p.number(p.reading.column, batch, i)
		if !known {
			return nil
		}
		readings++
		if x < u.lo || x > u.hi {
			outside++
		}
		return nil
	})
	p.reading.readings = readings
	return float64(outside) / float64(max(readings, 1)), err
}

// takeUniverse takes the universe that an answer names. The unit may be open still.
func (t *Task) takeUniverse(p *plan, offered []offeredUniverse, answer string) error {
	u, err := t.universeOf(p, offered, answer)
	if err != nil {
		return err
	}
	check := u
	if check.unit == "" {
		check.unit = "unit"
	}
	if _, err := check.build(); err != nil {
		return err
	}
	if err := t.checkClamped(p, u, answer); err != nil {
		return err
	}
	p.reading.declared = u
	if u.unit == "" {
		return nil
	}
	p.reading.universe, err = u.build()
	return err
}

// checkClamped refuses a universe that would change more readings than was allowed.
func (t *Task) checkClamped(p *plan, u declaredUniverse, answer string) error {
	share, err := p.clamped(u)
	switch {
	case err != nil:
		return err
	case share > t.Outside:
		return fmt.Errorf("%s of the readings lie outside %s: is the unit another one, or is this not what such readings can be? (--outside SHARE allows more)", percent(share), answer)
	case share > 0:
		t.talk.say("for the owner only: %s of the readings lie outside %s and will be moved to its ends", percent(share), u.values())
	}
	return nil
}

// universeOf returns the universe that an answer names: its number, a declared one, or values.
func (t *Task) universeOf(p *plan, offered []offeredUniverse, answer string) (u declaredUniverse, err error) {
	unit := t.Given["unit"]
	for _, known := range t.known.universes {
		if known.name == answer {
			return known, nil
		}
	}
	if n, err := strconv.Atoi(answer); err == nil && t.Given["universe"] == nil {
		if n < 1 || n > len(offered) {
			return u, fmt.Errorf("the list has no number %d", n)
		}
		o := offered[n-1]
		if n <= len(t.known.universes) {
			return t.known.universes[n-1], nil
		}
		u = declaredUniverse{slug(p.reading.column), o.lo, o.hi, o.step, o.unit}
	} else {
		words := strings.Split(answer, ",")
		if len(words) == 4 && unit == nil { // with its unit
			unit, words = &words[3], words[:3]
		}
		if len(words) != 3 {
			return u, errors.New("a universe has three numbers: LO,HI,STEP, such as 0,10,0.001")
		}
		v, err := numbersIn(words)
		if err != nil {
			return u, err
		}
		u = declaredUniverse{name: slug(p.reading.column), lo: v[0], hi: v[1], step: v[2]}
	}
	if unit != nil {
		u.unit = strings.TrimSpace(*unit)
		if err := budget.CheckUniverseUnit(budget.Unit(u.unit)); err != nil {
			return u, err
		}
	}
	return t.freshUniverse(u), nil
}

// freshUniverse returns a universe with a name that no other has.
func (t *Task) freshUniverse(u declaredUniverse) declaredUniverse {
	return renamed(u, t.known.universes, func(u *declaredUniverse) *string { return &u.name })
}

// unitOf returns the unit that the name of a column suggests.
func unitOf(column string) string {
	if offered := offers(column); len(offered) > 0 {
		return offered[0].unit
	}
	return slug(column)
}

// askUnit asks for the unit of a universe.
func (t *Task) askUnit(ctx context.Context, p *plan) error {
	return t.talk.settle(ctx, question{flag: "unit", text: "Unit of the readings, such as kWh: it names their budget", need: "use --unit UNIT", open: true,
		preset: unitOf(p.reading.column),
		help:   "Epsilon is per unit: 0.1 per kWh hides a kWh ten times as well as 1 does. Limits are kept by unit, so readings in the same unit share a budget.",
		accept: func(answer string) (err error) {
			u := p.reading.declared
			u.unit = answer
			u = t.freshUniverse(u)
			p.reading.universe, err = u.build()
			if err == nil {
				p.reading.declared = u
			}
			return err
		}})
}

const readingEpsilonText = `Every answer has noise. Epsilon, per %s, says how much: the smaller, the more noise, and the less
an answer tells. The table has errors in %s, of means of %s, and the effect of an answer on a belief of 50 %%
that somebody's readings (the differences of all of them added up) are one thing and not another:`

// askReadingEpsilon asks how accurate a sum of readings has to be.
func (t *Task) askReadingEpsilon(ctx context.Context, r *readingPlan) error {
	unit := string(r.universe.Unit())
	usual := brief(0.3 * (r.declared.hi - r.declared.lo))
	t.talk.tell(fmt.Sprintf(readingEpsilonText, unit, unit, cli.Count(r.readings, "reading")))
	t.talk.show(readingTable(r.universe, r.readings), "rrrrrr")
	t.talk.tell(fmt.Sprintf("Beliefs are at most that. Several answers about one person add up their epsilons. %s %s, the default, is usual: readings a tenth of the range apart then make an answer up to 2.7 times likelier, a belief of 73 %%.", usual, unit))
	return t.askEpsilon(ctx, epsilonQuestion{
		direct: "reading-epsilon", by: "reading-epsilon-for",
		text: "95 % of sums within how many " + unit + "? (or eps E)", preset: usual,
		need: "use --reading-epsilon-for " + unit + " or --reading-epsilon E",
		of: func(radius float64) (*big.Rat, error) {
			return scalar.EpsilonFor(radius, 0.95, 0, func(eps *big.Rat) (*scalar.Query, error) {
				return scalar.NewQuery(scalar.Sum, r.universe, budget.D1, eps)
			})
		},
		take: func(eps *big.Rat) error {
			sum, err := radiusOf(scalar.Sum, r.universe, eps, 0)
			if err != nil {
				return err
			}
			r.epsilon = eps
			t.talk.say("epsilon %s per %s: 95 %% of sums are within %s %s, of means of %s within %s", cli.FormatRational(eps), unit, brief(sum), unit,
				cli.Count(r.readings, "reading"), radiusText(scalar.Avg, r.universe, eps, r.readings))
			return nil
		},
	})
}
