package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// A taskFunc does a task in a process of its own.
type taskFunc func(ctx context.Context, t task) (timing, error)

// tasks holds the work of processes of their own, by name. Tasks that make data take no part in any figure.
var tasks = map[string]taskFunc{
	"make-points":   makeTable(`i`), // accounts report in the same order again and again, as meters do
	"make-shuffled": makeTable(`random()`),
	"make-sealable": makeSealable,
	"make-traces":   makeTraces,
	"make-csv":      makeCSV,

	"laplace": released("m", releasePoints,
		`SELECT count(max(lat, lon, 0.01)) FROM t`),
	"laplace-wkt": released("m", `SELECT count(geoind_laplace(account, lat, lon, 0.01)) FROM t`,
		`SELECT count(max(lat, lon, 0.01)) FROM t`),
	"dx_sum":         released("kWh", `SELECT dx_sum(account, x, 0.01, 'u') FROM t`, sqlSum),
	"dx_curve":       released("kWh", `SELECT dx_curve(account, x, 0.01, 'u') FROM t`, sqlSum),
	"dx_percentiles": released("record", `SELECT dx_percentiles(account, x, '[5,10,15,20,25,30,35,40,45,50,55,60,65,70,75,80,85,90,95]', 0.01, 'u', 'dh') FROM t`, sqlSum),
	"groups": released("kWh", `SELECT count(s) FROM (SELECT dx_sum(account, x, 0.01, 'u') AS s FROM t GROUP BY account)`,
		`SELECT count(s) FROM (SELECT sum(x) AS s FROM t GROUP BY account)`), // each account is charged by its group
	"laplace-counted": counted(releasePoints),
	"sealed":          overSealedValues(`SELECT dx_sum(x, 0.0001) FROM t`, `SELECT sum(length(x)) FROM t`),
	"sealed-groups": overSealedValues(`SELECT count(s) FROM (SELECT dx_sum(x, 0.0001) AS s FROM t GROUP BY g)`,
		`SELECT count(s) FROM (SELECT sum(length(x)) AS s FROM t GROUP BY g)`),
	"sealed-median":  overSealedValues(`SELECT dx_median(x, 0.0001) FROM t`, `SELECT sum(length(x)) FROM t`),
	"served-opens":   servedOpens,
	"served-values":  servedValues,
	"served-again":   servedAgain,
	"served-charges": servedCharges,
	"reserve":        reserve,
	"predictive":     stepped(`'m', 0.023`, `'predictive', '{"epsilon": 0.023, "steps": 30}'`, "predictive_step"),
	"pim":            stepped(`'set', 2`, `'pim', '{"model": "popular", "epsilon": 1}'`, "pim_step"),
	"pim-cells":      pimCells,
	"optimal-pairs":  solve(1),
	"optimal":        solve(1.1), // with the greedy spanner

	// The floor: loops that have neither noise nor accounts.
	"go-sum":   overValues(total),
	"go-avg":   overValues(func(values []float64) float64 { return total(values) / float64(len(values)) }),
	"go-count": overValues(countReadings),
	"go-csv":   goCSV,

	// The mechanism alone, through its Go interface: exact noise, no accounts, no ledger.
	"scalar-sum": scalarQuery(scalar.Sum), "scalar-avg": scalarQuery(scalar.Avg), "scalar-count": scalarQuery(scalar.Count),

	// SQL: the same with accounts and a ledger, over a table.
	"dh-sum":     released("record", `SELECT dx_sum(account, x, 0.01, 'u', 'dh') FROM t`, sqlSum),
	"dh-avg":     released("record", `SELECT dx_avg(account, x, 0.01, 'u', 'dh') FROM t`, sqlMean),
	"dh-count":   released("record", `SELECT dx_count(account, 0.01) FROM t`, sqlCount),
	"sqlite-sum": unreleased(sqlSum), "sqlite-avg": unreleased(sqlMean), "sqlite-count": unreleased(sqlCount),
}

const (
	sqlSum   = `SELECT sum(x) FROM t`
	sqlMean  = `SELECT avg(x) FROM t`
	sqlCount = `SELECT count(x) FROM t`
)

// A database is a connection that has geosql's functions.
type database struct{ *sql.Conn }

// over measures work on a database.
func over(ctx context.Context, file string, work func(d database) (timing, error), options ...sqlitefn.Option) (timing, error) {
	pool := sql.OpenDB(sqlitefn.Connector(file, options...))
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return timing{}, err
	}
	defer conn.Close()
	return work(database{conn})
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

// once returns the times of a base, and of a query after it that cannot be repeated.
func (d database) once(ctx context.Context, query, base string) (timing, error) {
	before, err := d.ask(ctx, base)
	if err != nil {
		return timing{}, err
	}
	took, err := d.ask(ctx, query)
	return timing{took.Seconds(), before.Seconds()}, err
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
	return over(ctx, file, func(d database) (timing, error) { return timing{}, d.do(ctx, statements...) })
}

// makeTable makes a table of points and readings, with rows in an order.
func makeTable(order string) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		return makeDatabase(ctx, t.File, slices.Concat([]string{
			`CREATE TABLE t(account TEXT, lat REAL, lon REAL, x REAL)`,
			`INSERT INTO t ` + numbers(t.Rows) + fmt.Sprintf(
				`SELECT 'account' || (i %% %d), 39.5 + (i %% 1000) * 0.001, 116 + (i / 1000 %% 1000) * 0.001, (i %% 3000) * 0.001 FROM n ORDER BY %s`, t.Accounts, order),
			`CREATE TABLE accounts(account TEXT)`,
			`INSERT INTO accounts ` + numbers(t.Accounts) + `SELECT 'account' || i FROM n`}, declarations)...)
	}
}

// makeSealable makes a table of readings in 100,001 groups.
func makeSealable(ctx context.Context, t task) (timing, error) {
	return makeDatabase(ctx, t.File, slices.Concat([]string{`CREATE TABLE t(account TEXT, g INT, x REAL)`,
		`INSERT INTO t ` + numbers(t.Rows) + fmt.Sprintf(`SELECT 'account' || (i %% %d), i %% 100001, (i %% 3000) * 0.001 FROM n`, t.Accounts)},
		declarations)...)
}

// makeTraces makes t.Size traces of two points, and a model of how points move on a grid of 1,444 cells.
func makeTraces(ctx context.Context, t task) (timing, error) {
	return makeDatabase(ctx, t.File, slices.Concat([]string{
		`CREATE TABLE seen AS ` + numbers(20000) +
			`SELECT i % 50 AS trace, 60 * i AS t, 40.25 + abs(i % 800 - 400) * 1e-3 AS lat, 116.5 + abs(i % 600 - 300) * 1e-3 AS lon FROM n`,
		`CREATE TABLE t(trace TEXT, t INT, lat REAL, lon REAL)`,
		`INSERT INTO t ` + numbers(2*t.Size) + `SELECT 'trace' || (i / 2), 60 * (i % 2), 40.25 + (i / 2 % 400) * 1e-3, 116.5 + (i / 2 % 300) * 1e-3 FROM n`},
		declarations, []string{`SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'beijing', 5000, 3000)) FROM seen`})...)
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
func released(unit, query, base string) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		each := 0.01 * maxTurns * float64(t.Rows/t.Accounts+2)
		return over(ctx, t.File, func(d database) (timing, error) {
			if err := d.do(ctx, fmt.Sprintf(`SELECT budget_reserve(account, '%s', %g) FROM accounts`, unit, each)); err != nil {
				return timing{}, err
			}
			return d.turns(ctx, query, base)
		})
	}
}

// counted measures a query behind a call that reserves its charges.
func counted(query string) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		return over(ctx, t.File, func(d database) (timing, error) {
			start := time.Now()
			err := d.do(ctx, "SELECT budget_reserve_for('"+query+"')", query)
			return timing{Seconds: time.Since(start).Seconds()}, err
		})
	}
}

// unreleased measures a query that has no privacy.
func unreleased(query string) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		return over(ctx, t.File, func(d database) (timing, error) { return d.turns(ctx, query, query) })
	}
}

// reserve measures the first reservation for all accounts, and reading them.
func reserve(ctx context.Context, t task) (timing, error) {
	return over(ctx, t.File, func(d database) (timing, error) {
		return d.once(ctx, `SELECT budget_reserve(account, 'm', 1) FROM accounts`, `SELECT max(length(account)) FROM accounts`)
	})
}

// overSealedValues measures a query over sealed readings, with the key beside the file, for accounts that have reserved its cost.
func overSealedValues(query, base string) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		text, err := os.ReadFile(t.File + ".key")
		if err != nil {
			return timing{}, err
		}
		key, err := sealed.ParsePrivateKey(text, nil)
		if err != nil {
			return timing{}, err
		}
		return over(ctx, t.File, func(d database) (timing, error) {
			if err := d.do(ctx, numbers(t.Accounts)+`SELECT budget_reserve('account' || i, 'kWh', 0.001) FROM n`); err != nil {
				return timing{}, err
			}
			return d.turns(ctx, query, base)
		}, sqlitefn.WithKeyring(sealed.NewKeyring(key)))
	}
}

// stepped measures steps over new traces, each an account that has reserved.
func stepped(reserved, policy, step string) taskFunc {
	const window = `OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM t)`
	return func(ctx context.Context, t task) (timing, error) {
		return over(ctx, t.File, func(d database) (timing, error) {
			err := d.do(ctx, `SELECT trace_policy('*', '*', `+policy+`)`,
				`SELECT budget_reserve(trace, `+reserved+`) FROM t WHERE t = 0`)
			if err != nil {
				return timing{}, err
			}
			return d.once(ctx, `SELECT count(z) FROM (SELECT `+step+`(trace, t, lat, lon) `+window,
				`SELECT count(z) FROM (SELECT sum(lat) `+window)
		})
	}
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

// solve finds the optimal mechanism on t.Size places, with a spanner of a dilation. They lie in a city of 10 km by 10 km,
// most of them in its centre, and are the same each time.
func solve(dilation float64) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		r := rand.New(rand.NewPCG(1, 2))
		type place struct{ x, y float64 }
		places, prior := make([]place, t.Size), make([]float64, t.Size)
		for i := range places {
			places[i] = place{5 + r.NormFloat64(), 5 + 2*r.NormFloat64()}
			prior[i] = math.Pow(r.Float64(), 3) + 1e-3
		}
		distances := make(optimal.Matrix, t.Size)
		for i, p := range places {
			distances[i] = make([]float64, t.Size)
			for j, q := range places {
				distances[i][j] = math.Hypot(p.x-q.x, p.y-q.y)
			}
		}
		start := time.Now()
		problem := optimal.Problem{Prior: prior, Quality: distances, Privacy: distances, Epsilon: 1.07}
		_, err := optimal.Solve(ctx, problem, optimal.Options{Dilation: dilation})
		return timing{Seconds: time.Since(start).Seconds()}, err
	}
}
