package audit

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/geosql/geosql/internal/audit/bound"
	"github.com/geosql/geosql/mechanism/cip"
)

// The promise of cip_trace is against somebody who believes that traces are a Gaussian process. So an attack draws the other
// points from that process, anew for each trial, given the secret ones. The released trace is Gaussian then, with the same
// covariance for both inputs, and a Gaussian's divergence of order a is a times that of order 1. The policy's epsilon bounds
// the one of order lambda. Divided by lambda it bounds the loss that [bound.Renyi] measures. Where the other points are the
// same with both inputs, the bound holds all the more, since the prior tells nothing then.
const (
	cipLambda   = 2
	cipEpsilon  = 4
	cipVariance = 2500.0 // of a coordinate, square metres
	cipRadius   = 50
	cipScale    = 120 // of the kernel, seconds
)

// cipTimes are so close together that each point tells much about the others.
var cipTimes = []float64{0, 60, 120}

// cipPolicy returns a policy for a family of sets.
func cipPolicy(family string) string {
	return fmt.Sprintf(`{"kernel": "rbf", "variance": %v, "length_scale": %v, "radius": %v, "lambda": %v, "epsilon": %v, "family": "%s", "domain": "fine"}`,
		cipVariance, cipScale, cipRadius, cipLambda, cipEpsilon, family)
}

// processes has policies for whole traces, and a table of quantiles from which SQL draws normal numbers.
var processes = &fixture{
	name: "processes",
	declare: []string{
		fine.declare(),
		fmt.Sprintf("SELECT cip_policy('one', '%s'), cip_policy('pair', '%s')", cipPolicy("singles"), cipPolicy("windows:2")),
		`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'cip:one', 9000000), budget_limit('*', 'cip:pair', 9000000)`,
		`SELECT budget_limit('blocked', 'cip:one', 0), budget_limit('blocked', 'cip:pair', 0)`,
		"CREATE TABLE normal(k INTEGER PRIMARY KEY, z)", "INSERT INTO normal VALUES " + quantiles(),
	},
	release: `geoind_laplace('dry run', 40, 116.35, 0.001, 'fine')`,
}

// normals is how many quantiles there are. A sum of two of them is nearly normal.
const normals = 256

// quantiles returns rows with quantiles of the normal law with variance 1/2.
func quantiles() string {
	var rows []string
	for k := range normals {
		rows = append(rows, fmt.Sprintf("(%d, %.7g)", k, math.Erfinv(2*(float64(k)+0.5)/normals-1)))
	}
	return strings.Join(rows, ", ")
}

// normalSQL is an expression for a normal number, which is another in each row of trials.
const normalSQL = "((SELECT z FROM normal WHERE k = (random() & 255) + 0*trial) + (SELECT z FROM normal WHERE k = (random() & 255) + 0*trial))"

// process returns an attack on a trace. A row has a time, the expected location given the secrets, and the weights of two normal
// numbers add to it, in degrees of latitude; in those of longitude it is more.
func process(pair, policy string, a, b []string) attack {
	return attack{
		function: "cip_trace", pair: pair, fixture: processes, columns: "t, lat, lon, c0, c1", inputs: [2][]string{a, b},
		answer: "cip_trace({each}, t, lat, lon, '" + policy + "')",
		from: "FROM (WITH n AS MATERIALIZED (SELECT trial, " + normalSQL + " AS y0, " + normalSQL + " AS y1, " + normalSQL + " AS x0, " + normalSQL + " AS x1 " +
			"FROM {rows} WHERE t = 0) SELECT r.trial AS trial, r.t AS t, r.lat + r.c0*n.y0 + r.c1*n.y1 AS lat, r.lon + 1.3003*(r.c0*n.x0 + r.c1*n.x1) AS lon " +
			"FROM {rows} r JOIN n ON n.trial = r.trial)",
		group: "GROUP BY trial", unit: "cip:" + policy, claim: claim{kind: bound.Renyi, distance: 1. / cipLambda},
	}
}

// correlation returns that of two coordinates at times this far apart.
func correlation(seconds float64) float64 {
	return math.Exp(-seconds * seconds / (2 * cipScale * cipScale))
}

// latitude is a metre in degrees of latitude, in the middle of fine.
const latitude = 1 / 111035.0

// weighted returns the score that is a weighted sum of the latitudes of a trace with the values t, lat, lon for each point.
func weighted(weights func() []float64) bound.Score {
	return bound.Score{Name: "weighted latitudes", Of: func(o bound.Outcome) (score float64) {
		for i, w := range weights() {
			if at := 3*i + 1; at < len(o.Values) {
				score += w * (o.Values[at] - 40)
			}
		}
		return score
	}}
}

// guessed is the attack on the second of three points by somebody who knows the process: the others move with it.
func guessed() attack {
	r, far := correlation(60), correlation(120)
	// The other two given the second: variance and covariance, and their root.
	v, c := 1-r*r, far-r*r
	deviation := math.Sqrt(cipVariance) * latitude
	first, second := c/math.Sqrt(v), math.Sqrt(v-c*c/v)
	trace := func(metres float64) []string {
		s := metres * latitude
		return []string{
			fmt.Sprintf("0, %.9f, 116.35, %v, 0.0", 40+r*s, deviation*math.Sqrt(v)),
			fmt.Sprintf("60, %.9f, 116.35, 0.0, 0.0", 40+s),
			fmt.Sprintf("120, %.9f, 116.35, %v, %v", 40+r*s, deviation*first, deviation*second),
		}
	}
	a := process("the second of three points, given which the process moves the others", "one", trace(-24.99), trace(24.99))
	a.hints = []bound.Score{weighted(sync.OnceValue(func() []float64 {
		p, err := cip.ParsePolicy(cipPolicy("singles"))
		if err != nil {
			return nil
		}
		noise, err := p.SmallestSigma2(context.Background(), cipTimes)
		if err != nil {
			return nil
		}
		others := r / (cipVariance*(v+c) + noise)
		return []float64{others, 1 / noise, others}
	}))}
	return a
}

func attacksOnTraces(register func(...attack)) {
	trace := func(metres ...float64) (rows []string) {
		for i, m := range metres {
			rows = append(rows, fmt.Sprintf("%v, %.9f, 116.35, 0.0, 0.0", cipTimes[i], 40+m*latitude))
		}
		return rows
	}
	even := func() []float64 { return []float64{1, 1} }
	together := process("two points move, and the other is known", "pair", trace(-24.99, -24.99, 300), trace(24.99, 24.99, 300))
	together.hints = []bound.Score{weighted(even)}
	single := process("a single point", "one", trace(-24.99), trace(24.99))
	single.hints = []bound.Score{weighted(even)}
	missing := process("one of two points without a location", "pair", append(trace(-24.99), "60, NULL, NULL, 0, 0"), append(trace(24.99), "60, NULL, NULL, 0, 0"))
	missing.hints = []bound.Score{weighted(even)}
	register(guessed(), together, single, missing)
}
