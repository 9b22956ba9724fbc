package reading

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argAnswer = &frame.Arg{Name: "answer", Is: "a number that dx_value or an aggregate of readings has released in the same execution of the statement", Kind: frame.OrNull(frame.Number)}
	argWithP  = &frame.Arg{Name: "p", Is: "probability, 0 < p < 1; 0.95 if it is not given", Kind: frame.Inside, Optional: true}
)

const (
	withinName = "dx_within"
	defaultP   = 0.95
)

var withinFunctions = []*frame.Function{
	{
		Name: withinName, Section: frame.Free, Returns: "REAL", Scoped: true, OfStatement: true,
		Args: []*frame.Arg{argAnswer, argWithP},
		Does: "Returns how far from an answer that this execution of the statement released the true one lies at most with probability p.",
		Notes: "It follows from public facts and from the drawn answer: an average under nd1 and dh goes by its noisy number of readings. " + frame.RadiusNote +
			"It is NULL for NULL, for variances and for percentiles under d1, nd1 and dh (their error depends on the readings), and for numbers that were not released or have been computed with. " +
			"A trigger is an execution of its own. If several queries have released the number, it is the largest of their distances, and NULL if that of one is.",
		Examples: []string{
			"SELECT s, dx_within(s) FROM (SELECT dx_sum('ana', x, 0.25, 'halfhour') AS s FROM (SELECT 0.412 AS x UNION SELECT 0.388))",
			"SELECT dx_avg('ana', x, 0.25, 'halfhour'), dx_within(dx_avg('ana', x, 0.25, 'halfhour'), 0.5) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
		},
		Scalar: dxWithin,
	},
}

// dxWithin answers how far from an answer the truth lies.
func dxWithin(c frame.Call) error {
	if !c.Given(argAnswer) {
		return nil
	}
	p := defaultP
	if c.Given(argWithP) {
		p = c.Number(argWithP)
	}
	if r, known := answersOf.Of(c.Statement()).within(c.Session, c.Number(argAnswer), p); known {
		c.ResultRadius(r)
	}
	return nil
}

var answersOf frame.Variable[answers]

// answers holds how the numbers that a statement has released were drawn. It is empty if
// nothing can ask about them.
type answers struct {
	byNumber map[float64]origin
	decided  bool // whether somebody may ask
	asked    bool
}

// origin holds a query that has released a number, with the smallest divisor of these
// releases, and the other queries that have.
type origin struct {
	query   *scalar.Query
	divisor float64
	next    *origin
}

// add notes a release of a number.
func (a *answers) add(s *frame.Session, q *scalar.Query, r scalar.Release) {
	if r.JSON != "" {
		return
	}
	if !a.decided {
		a.decided, a.asked = true, mentions(s, withinName)
	}
	if !a.asked {
		return
	}
	first, released := a.byNumber[r.Value]
	if !released {
		if a.byNumber == nil {
			a.byNumber = map[float64]origin{}
		}
		a.byNumber[r.Value] = origin{query: q, divisor: r.Divisor}
		return
	}
	for o := &first; o != nil; o = o.next {
		if o.query == q {
			o.divisor = min(o.divisor, r.Divisor)
			a.byNumber[r.Value] = first
			return
		}
	}
	rest := first
	a.byNumber[r.Value] = origin{q, r.Divisor, &rest}
}

// deviationKey is what a deviation is built from.
type deviationKey struct {
	query *scalar.Query
	p     float64
}

// deviations remembers deviations, because the groups of a statement mostly share them: nil
// for one that depends on the readings.
var deviations = frame.NewMemo[deviationKey, scalar.Deviation]()

func (k deviationKey) newDeviation() (scalar.Deviation, error) {
	if d, known := k.query.Deviation(k.p); known {
		return d, nil
	}
	return nil, nil
}

// within returns how far from a number that was released the truth lies with probability p
// at least. It reports false if that is not known.
func (a *answers) within(s *frame.Session, number, p float64) (r float64, known bool) {
	first, released := a.byNumber[number]
	if !released {
		return 0, false
	}
	for o := &first; o != nil; o = o.next {
		key := deviationKey{o.query, p}
		d, err := deviations.Get(s, key, key.newDeviation)
		if d == nil || err != nil {
			return 0, false
		}
		r = max(r, d(scalar.Release{Value: number, Divisor: o.divisor}))
	}
	return r, true
}

// mentions reports whether a running statement, or a view or trigger, may call a function of
// that name.
func mentions(s *frame.Session, function string) bool {
	if s.Conn.Named(function) {
		return true
	}
	databases, err := s.Databases()
	mentions := err != nil
	for _, d := range databases {
		err := s.Query(`SELECT 1 FROM `+d.Table("sqlite_schema")+` WHERE type IN ('view', 'trigger') AND instr(lower(sql), ?) LIMIT 1`,
			func(*sqlite.Stmt) { mentions = true }, function)
		mentions = mentions || err != nil
	}
	return mentions
}
