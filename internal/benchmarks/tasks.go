package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// tasks holds the work of processes of their own, by name. Tasks that make data take no part in any figure.
var tasks = map[string]func(ctx context.Context, t task) (timing, error){
	"make-points":   makePoints,
	"make-shuffled": makeShuffled,
	"make-traces":   makeTraces,
	"make-csv":      makeCSV,

	"laplace":       laplace,
	"laplace-wkt":   laplaceWKT,
	"groups":        groups,
	"sealed":        sealedSum,
	"pim-cells":     pimCells,
	"optimal-pairs": optimalPairs,
	"dx_sum":        sum,
	"reserve":       reserve,
	"predictive":    predictive,
	"pim":           pimSteps,
	"optimal":       optimalSpanner,

	"go-sum": goSum, "go-avg": goMean, "go-count": goCount,
	"scalar-sum": scalarSum, "scalar-avg": scalarMean, "scalar-count": scalarCount,
	"dh-sum": dhSum, "dh-avg": dhMean, "dh-count": dhCount,
	"sqlite-sum": unreleased(sqlSum), "sqlite-avg": unreleased(sqlMean), "sqlite-count": unreleased(sqlCount),
	"go-csv": goCSV,
}

// A database is a connection that has geosql's functions.
type database struct{ *sql.Conn }

func open(ctx context.Context, file string, options ...sqlitefn.Option) (database, func(), error) {
	pool := sql.OpenDB(sqlitefn.Connector(file, options...))
	conn, err := pool.Conn(ctx)
	return database{conn}, func() {
		if conn != nil {
			conn.Close()
		}
		pool.Close()
	}, err
}

// ask runs a query to its end and returns how long that took.
func (d database) ask(ctx context.Context, query string) (time.Duration, error) {
	start := time.Now()
	rows, err := d.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return time.Since(start), rows.Err()
}

// do runs statements.
func (d database) do(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := d.ask(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Turns of a query and its base: as many as fit into a second, but not more than maxTurns.
const (
	maxTurns = 5
	turnTime = time.Second
)

// turns returns the best times of a query and of its base, which take turns because machines drift.
func (d database) turns(ctx context.Context, query, base string) (timing, error) {
	best, bestBase := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for turn, start := 0, time.Now(); turn == 0 || turn < maxTurns && time.Since(start) < turnTime; turn++ {
		took, err := d.ask(ctx, base)
		if err != nil {
			return timing{}, err
		}
		bestBase = min(bestBase, took)
		if took, err = d.ask(ctx, query); err != nil {
			return timing{}, err
		}
		best = min(best, took)
	}
	return timing{best.Seconds(), bestBase.Seconds()}, nil
}

// numbers is a table n of i from 0 on.
func numbers(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, n-1)
}

// declarations declare the data for release.
var declarations = []string{
	`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 0.001, 'kWh')`,
	`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'set', 9000000), budget_limit('*', 'record', 9000000)`,
}

// makeDatabase makes a database in which tables are made by the statements.
func makeDatabase(ctx context.Context, file string, statements ...string) (timing, error) {
	d, done, err := open(ctx, file)
	defer done()
	if err == nil {
		err = d.do(ctx, append(statements, declarations...)...)
	}
	return timing{}, err
}

// makePoints makes a table of points and readings. Its accounts report in the same order again and again, as meters do.
func makePoints(ctx context.Context, t task) (timing, error) { return makeTable(ctx, t, `i`) }

// makeShuffled makes the same table, with rows in no order.
func makeShuffled(ctx context.Context, t task) (timing, error) { return makeTable(ctx, t, `random()`) }

func makeTable(ctx context.Context, t task, order string) (timing, error) {
	return makeDatabase(ctx, t.File,
		`CREATE TABLE t(account TEXT, lat REAL, lon REAL, x REAL)`,
		`INSERT INTO t `+numbers(t.Rows)+fmt.Sprintf(
			`SELECT 'account' || (i %% %d), 39.5 + (i %% 1000) * 0.001, 116 + (i / 1000 %% 1000) * 0.001, (i %% 3000) * 0.001 FROM n ORDER BY %s`, t.Accounts, order),
		`CREATE TABLE accounts(account TEXT)`,
		`INSERT INTO accounts `+numbers(t.Accounts)+`SELECT 'account' || i FROM n`)
}

// makeTraces makes t.Size traces of two points, and a model of how points move on a grid of 1,444 cells.
func makeTraces(ctx context.Context, t task) (timing, error) {
	result, err := makeDatabase(ctx, t.File,
		`CREATE TABLE seen AS `+numbers(20000)+
			`SELECT i % 50 AS trace, 60 * i AS t, 40.25 + abs(i % 800 - 400) * 1e-3 AS lat, 116.5 + abs(i % 600 - 300) * 1e-3 AS lon FROM n`,
		`CREATE TABLE t(trace TEXT, t INT, lat REAL, lon REAL)`,
		`INSERT INTO t `+numbers(2*t.Size)+`SELECT 'trace' || (i / 2), 60 * (i % 2), 40.25 + (i / 2 % 400) * 1e-3, 116.5 + (i / 2 % 300) * 1e-3 FROM n`)
	if err != nil {
		return result, err
	}
	d, done, err := open(ctx, t.File)
	defer done()
	if err == nil {
		err = d.do(ctx, `SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'beijing', 5000, 3000)) FROM seen`)
	}
	return result, err
}

// makeCSV writes rows of accounts and locations.
func makeCSV(_ context.Context, t task) (timing, error) {
	f, err := os.Create(t.File)
	if err != nil {
		return timing{}, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(w, "id,user,lat,lon")
	for i := range t.Rows {
		fmt.Fprintf(w, "%d,user-%07d,%.6f,%.6f\n", i, i*7919%t.Accounts, 39.5+1.5*random.Float64(), 115.5+2*random.Float64())
	}
	if err := w.Flush(); err != nil {
		return timing{}, err
	}
	return timing{}, f.Sync()
}

// released measures a query for accounts that have reserved its cost.
func released(ctx context.Context, t task, unit, query, base string) (timing, error) {
	d, done, err := open(ctx, t.File)
	defer done()
	if err != nil {
		return timing{}, err
	}
	each := 0.01 * maxTurns * float64(t.Rows/t.Accounts+2)
	if err := d.do(ctx, fmt.Sprintf(`SELECT budget_reserve(account, '%s', %g) FROM accounts`, unit, each)); err != nil {
		return timing{}, err
	}
	return d.turns(ctx, query, base)
}

func laplace(ctx context.Context, t task) (timing, error) {
	return released(ctx, t, "m", `SELECT count(g.lat), count(g.lon) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`,
		`SELECT count(max(lat, lon, 0.01)) FROM t`)
}

// laplaceWKT is the scalar form.
func laplaceWKT(ctx context.Context, t task) (timing, error) {
	return released(ctx, t, "m", `SELECT count(geoind_laplace(account, lat, lon, 0.01)) FROM t`, `SELECT count(max(lat, lon, 0.01)) FROM t`)
}

func sum(ctx context.Context, t task) (timing, error) {
	return released(ctx, t, "kWh", `SELECT dx_sum(account, x, 0.01, 'u') FROM t`, sqlSum)
}

// reserve measures the first reservation for all accounts, and reading them.
func reserve(ctx context.Context, t task) (timing, error) {
	d, done, err := open(ctx, t.File)
	defer done()
	if err != nil {
		return timing{}, err
	}
	base, err := d.ask(ctx, `SELECT max(length(account)) FROM accounts`)
	if err != nil {
		return timing{}, err
	}
	took, err := d.ask(ctx, `SELECT budget_reserve(account, 'm', 1) FROM accounts`)
	return timing{took.Seconds(), base.Seconds()}, err
}

// groups sums the readings of each account, which is charged by its group.
func groups(ctx context.Context, t task) (timing, error) {
	return released(ctx, t, "kWh", `SELECT count(s) FROM (SELECT dx_sum(account, x, 0.01, 'u') AS s FROM t GROUP BY account)`,
		`SELECT count(s) FROM (SELECT sum(x) AS s FROM t GROUP BY account)`)
}

// sealedSum opens sealed readings, with the key beside the file.
func sealedSum(ctx context.Context, t task) (timing, error) {
	text, err := os.ReadFile(t.File + ".key")
	if err != nil {
		return timing{}, err
	}
	key, err := sealed.ParsePrivateKey(text, nil)
	if err != nil {
		return timing{}, err
	}
	d, done, err := open(ctx, t.File, sqlitefn.WithKeyring(sealed.NewKeyring(key)))
	defer done()
	if err != nil {
		return timing{}, err
	}
	return d.turns(ctx, `SELECT dx_sum(x, 0.0001) FROM t`, `SELECT sum(length(x)) FROM t`)
}

// stepped measures steps over new traces, each an account that has reserved.
func stepped(ctx context.Context, t task, reserved, policy, step string) (timing, error) {
	d, done, err := open(ctx, t.File)
	defer done()
	if err == nil {
		err = d.do(ctx, `SELECT trace_policy('*', '*', `+policy+`)`, `SELECT budget_reserve(trace, `+reserved+`) FROM t WHERE t = 0`)
	}
	if err != nil {
		return timing{}, err
	}
	const over = `OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM t)`
	base, err := d.ask(ctx, `SELECT count(z) FROM (SELECT sum(lat) `+over)
	if err != nil {
		return timing{}, err
	}
	took, err := d.ask(ctx, `SELECT count(z) FROM (SELECT `+step+`(trace, t, lat, lon) `+over)
	return timing{took.Seconds(), base.Seconds()}, err
}

func predictive(ctx context.Context, t task) (timing, error) {
	return stepped(ctx, t, `'m', 0.023`, `'predictive', '{"epsilon": 0.023, "steps": 30}'`, "predictive_step")
}

func pimSteps(ctx context.Context, t task) (timing, error) {
	return stepped(ctx, t, `'set', 2`, `'pim', '{"model": "popular", "epsilon": 1}'`, "pim_step")
}

// pimCells takes t.Size steps on a grid of 10,201 cells, with sets of 200, and returns the time of one.
func pimCells(_ context.Context, t task) (timing, error) {
	const (
		cell, across = 500, 100
		minute       = int64(time.Minute / time.Microsecond)
	)
	half := float64(across) * cell / 2 / 111_000
	domain, err := planar.NewDomain("city", 40-half, 116-half/math.Cos(40*math.Pi/180), 40+half, 116+half/math.Cos(40*math.Pi/180), 50)
	if err != nil {
		return timing{}, err
	}
	grid, err := markov.NewGrid(domain, cell)
	if err != nil {
		return timing{}, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	trainer := markov.NewTrainer(grid, time.Minute)
	width, height := grid.Size()
	walk := func(i, n int) int { return min(max(i+random.IntN(5)-2, 0), n-1) }
	for trace := range 100 {
		x, y := random.IntN(width), random.IntN(height)
		for k := range int64(1000) {
			x, y = walk(x, width), walk(y, height)
			lat, lon := domain.Location(grid.Centre(y*width + x))
			trainer.Add(fmt.Sprint(trace), k*minute, lat, lon)
		}
	}
	model, err := trainer.Model()
	if err != nil {
		return timing{}, err
	}
	mechanism, err := pim.New(model, pim.PIM, pim.Policy{Model: "city", Epsilon: 3 * budget.One, Delta: budget.One - 1, MinSet: 200})
	if err != nil {
		return timing{}, err
	}
	src, run := exact.NewSource(nil), mechanism.Start()
	start := time.Now()
	for k := range t.Size {
		plan, err := run.Plan(int64(k+1) * minute)
		if err != nil {
			return timing{}, err
		}
		run.Add(plan, plan.Draw(src, grid.Len()/2))
	}
	return timing{Seconds: time.Since(start).Seconds() / float64(t.Size)}, nil
}

// optimalPairs solves for scattered places with all pairs.
func optimalPairs(ctx context.Context, t task) (timing, error) { return solve(ctx, t.Size, 1) }

// optimalSpanner solves for scattered places with the greedy spanner of dilation 1.1.
func optimalSpanner(ctx context.Context, t task) (timing, error) { return solve(ctx, t.Size, 1.1) }

// solve finds the optimal mechanism on n places. They lie in a city of 10 km by 10 km, most of them in its
// centre, and are the same each time.
func solve(ctx context.Context, n int, dilation float64) (timing, error) {
	r := rand.New(rand.NewPCG(1, 2))
	type place struct{ x, y float64 }
	places, prior := make([]place, n), make([]float64, n)
	for i := range places {
		places[i] = place{5 + r.NormFloat64(), 5 + 2*r.NormFloat64()}
		prior[i] = math.Pow(r.Float64(), 3) + 1e-3
	}
	distances := make(optimal.Matrix, n)
	for i, p := range places {
		distances[i] = make([]float64, n)
		for j, q := range places {
			distances[i][j] = math.Hypot(p.x-q.x, p.y-q.y)
		}
	}
	start := time.Now()
	_, err := optimal.Solve(ctx, optimal.Problem{Prior: prior, Quality: distances, Privacy: distances, Epsilon: 1.07}, optimal.Options{Dilation: dilation})
	return timing{Seconds: time.Since(start).Seconds()}, err
}

// releaseCommand releases one file as another.
func releaseCommand(geosql, in, out, ledger string) *exec.Cmd {
	return exec.Command(geosql, "release", "--in", in, "--out", out, "--ledger", ledger, "--account", "user", "--lat", "lat", "--lon", "lon",
		"--keep", "id,user", "--epsilon", "0.01", "--domain", "39.4,115.4,41.1,117.6,1", "--limit", "9000000")
}
