package reading

import (
	"math"

	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argAnswer = &frame.Arg{Name: "answer", Is: "a number that dx_value or an aggregate of readings has released in the same execution of the statement", Kind: frame.OrNull(frame.Number)}
	argWithP  = &frame.Arg{Name: "p", Is: "probability, 0 < p < 1; 0.95 if it is not given", Kind: frame.Inside, Optional: true}
)

const (
	withinName     = "dx_within"
	rankWithinName = "dx_rank_within"
	defaultP       = 0.95
)

// ofReleases is where answers about answers come from.
const ofReleases = "A trigger is an execution of its own. If several queries have released the number, it is the largest of theirs, and NULL if that of one is."

var withinFunctions = []*frame.Function{
	{
		Name: withinName, Section: frame.Free, Returns: "REAL", Scoped: true, OfStatement: true,
		Args:     []*frame.Arg{argAnswer, argWithP},
		Does:     "Returns how far from an answer that this execution of the statement released the true one lies at most with probability p.",
		Accuracy: frame.RadiusAccuracy,
		Notes: "It follows from public facts and from the drawn answer: an average under nd1 and dh goes by its noisy number of readings. " +
			"It is NULL for NULL, for variances under dh, for percentiles that are drawn by score (under nd1 and dh, and some under d1: dx_rank_within knows more of them) or as the mean of neighbouring ranks, and for numbers that were not released or have been computed with. " + ofReleases,
		Examples: []string{
			"SELECT s, dx_within(s) FROM (SELECT dx_sum('ana', x, 20, 'halfhour') AS s FROM (SELECT 0.412 AS x UNION SELECT 0.388))",
			"SELECT dx_avg('ana', x, 20, 'halfhour'), dx_within(dx_avg('ana', x, 20, 'halfhour'), 0.5) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
		},
		Scalar: dxWithin,
	}, {
		Name: rankWithinName, Section: frame.Free, Returns: "INTEGER", Scoped: true, OfStatement: true,
		Args:     []*frame.Arg{argAnswer, argWithP},
		Does:     "Returns how many readings lie between a percentile that this execution of the statement released and the true one at most with probability p.",
		Accuracy: "a bound, whatever the readings are",
		Notes: "Those between are the true percentile, its equals, and all up to the answer. It follows from public facts: where each person has one reading, it counts people. " +
			"Under dh it is dx_rank_radius, which for dx_max has the ranks by which that aims inside. Under d1 and nd1, where a value is the likelier, the less readings would have to move, it is that of readings that are nearly equal, and often more than there are; under d1 it is at most their number, which is public. " +
			"It is NULL for answers with noise (under dinf, and some under d1: dx_within knows how far these are off), for means of neighbouring ranks, for all but percentiles, median and extremes, for NULL, and for numbers that were not released or have been computed with. " + ofReleases,
		Examples: []string{
			"SELECT m, dx_rank_within(m) FROM (SELECT dx_median('ana', x, 2, 'halfhour', 'dh') AS m FROM (SELECT 0.412 AS x UNION SELECT 0.388))",
		},
		Scalar: dxRankWithin,
	},
}

// dxWithin answers how far from an answer the truth lies.
func dxWithin(c frame.Call) error {
	if r := within(c, false); !math.IsNaN(r) {
		c.ResultRadius(r)
	}
	return nil
}

// dxRankWithin answers how many readings lie between an answer and the truth.
func dxRankWithin(c frame.Call) error {
	if r := within(c, true); !math.IsNaN(r) {
		c.ResultInt(0, int64(r))
	}
	return nil
}

// within returns how far from an answer the truth lies, in ranks or in the unit, or NaN if that is not known.
func within(c frame.Call, ranks bool) float64 {
	if !c.Given(argAnswer) {
		return math.NaN()
	}
	p := defaultP
	if c.Given(argWithP) {
		p = c.Number(argWithP)
	}
	return answersOf.Of(c.Statement()).within(c.Session, c.Number(argAnswer), p, ranks)
}

var answersOf frame.Variable[answers]

// answers holds how the numbers that a statement has released were drawn. It is empty if
// nothing can ask about them.
type answers struct {
	byNumber map[float64]origin
	decided  bool // whether somebody may ask
	asked    bool
}

// origin holds a query that has released a number, with how often it has, the fewest and the most readings of these
// releases, and the other queries that have.
type origin struct {
	query        *scalar.Query
	times        int
	fewest, most float64
	next         *origin
}

// add notes a release of a number, drawn or a stand-in.
func (a *answers) add(s *frame.Session, q *scalar.Query, r scalar.Release, drawn bool) {
	if r.JSON != "" {
		return
	}
	if !a.decided {
		watched := drawn && s.Answering(func(number float64) interval.Interval { return a.interval(s, number) })
		a.decided, a.asked = true, watched || mayAsk(s)
	}
	if !a.asked {
		return
	}
	first, released := a.byNumber[r.Value]
	if !released {
		if a.byNumber == nil {
			a.byNumber = map[float64]origin{}
		}
		a.byNumber[r.Value] = origin{q, 1, r.Readings, r.Readings, nil}
		return
	}
	for o := &first; o != nil; o = o.next {
		if o.query == q {
			o.times++
			o.fewest, o.most = min(o.fewest, r.Readings), max(o.most, r.Readings)
			a.byNumber[r.Value] = first
			return
		}
	}
	rest := first
	a.byNumber[r.Value] = origin{q, 1, r.Readings, r.Readings, &rest}
}

// deviationKey has the arguments of a deviation.
type deviationKey struct {
	query *scalar.Query
	p     float64
	ranks bool
}

// deviations remembers deviations, because the groups of a statement mostly share them.
var deviations = frame.NewMemo[deviationKey, scalar.Deviation]()

func (k deviationKey) newDeviation() (scalar.Deviation, error) {
	if k.ranks {
		return k.query.RankDeviation(k.p), nil
	}
	return k.query.Deviation(k.p), nil
}

// within returns how far from a number that was released the truth lies with probability p
// at least, in ranks or in the unit. It is NaN if that is not known.
func (a *answers) within(s *frame.Session, number, p float64, ranks bool) (r float64) {
	first, released := a.byNumber[number]
	if !released {
		return math.NaN()
	}
	for o := &first; o != nil; o = o.next {
		key, readings := deviationKey{o.query, p, ranks}, o.fewest
		if ranks {
			readings = o.most
		}
		d, err := deviations.Get(s, key, key.newDeviation)
		if err != nil {
			return math.NaN()
		}
		r = max(r, d(scalar.Release{Value: number, Readings: readings})) // NaN remains
	}
	return r
}

// interval returns how far from the truth a number may be, in the unit or else in ranks.
func (a *answers) interval(s *frame.Session, number float64) (i interval.Interval) {
	first := a.byNumber[number]
	for o := &first; o != nil; o = o.next {
		i.Times += o.times
	}
	if i.Radius = frame.RoundedRadius(a.within(s, number, defaultP, false)); math.IsNaN(i.Radius) {
		i.Radius, i.Ranks = a.within(s, number, defaultP, true), true
	}
	return i
}

// intervalOf returns how far from the truth an answer over so many readings may be, by public facts, in the unit or else in
// ranks.
func intervalOf(q *scalar.Query, readings int64) interval.Interval {
	i := interval.Interval{Times: 1}
	if r, err := q.Radius(defaultP, readings); err == nil {
		i.Radius = frame.RoundedRadius(r)
		return i
	}
	r := q.Expected(readings)
	if i.Radius = frame.RoundedRadius(q.Deviation(defaultP)(r)); math.IsNaN(i.Radius) {
		i.Radius, i.Ranks = q.RankDeviation(defaultP)(r), true
	}
	return i
}

// mayAsk reports whether a running statement, or a view or trigger, may call one of the functions that ask.
func mayAsk(s *frame.Session) bool {
	if s.Conn.Named(withinName) || s.Conn.Named(rankWithinName) {
		return true
	}
	databases, err := s.Databases()
	mentions := err != nil
	for _, d := range databases {
		err := s.Query(`SELECT 1 FROM `+d.Table("sqlite_schema")+` WHERE type IN ('view', 'trigger') AND instr(lower(sql), '_within') LIMIT 1`,
			func(*sqlite.Stmt) { mentions = true })
		mentions = mentions || err != nil
	}
	return mentions
}
