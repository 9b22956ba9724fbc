package file_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
)

// scenario is a kind of work that processes are killed at.
type scenario struct {
	name    string
	prepare func(t *testing.T, dir string) // makes the database
	fresh   bool                           // whether every round has another database
	players []play                         // the processes of a round
	span    time.Duration                  // from ready to killed, at most

	eps    budget.Amount                   // of every answer
	most   bound                           // on the charge of an account; nil for none
	window budget.Amount                   // the most that a window of an account called w.. may hold
	check  func(before, after state) error // another condition; may be nil
}

// bound is how many answers an account may be charged for in a round, by how many
// it got and how many processes were killed.
type bound func(answers, processes int64) int64

// play is the work of a process until it is killed.
type play func(dir string, say reporter) error

func (s *scenario) role(i int) string { return fmt.Sprintf("%s, process %d", s.name, i+1) }

// killedRoles are the processes of all scenarios, and of the tests of the judge.
func killedRoles() map[string]play {
	roles := map[string]play{}
	for _, s := range append(scenarios, planted...) {
		for i, p := range s.players {
			roles[s.role(i)] = p
		}
	}
	return roles
}

func mainFile(dir string) string    { return filepath.Join(dir, "main.db") }
func ledgerFile(dir string) string  { return mainFile(dir) + "-ledger" }
func archiveFile(dir string) string { return filepath.Join(dir, "archive.db") }

const half = budget.Amount(5e11)

// Reservations double with use, so that unused reservations are at most
// the used amount. One answer more per process or connection may have been granted
// and not written.
func doubled(answers, processes int64) int64 { return 2 * (answers + processes) }

func doubledInConnections(answers, processes int64) int64 {
	return 2 * (answers + connections*processes)
}

// doubledOrAlike is doubled for traces: each of a statement but the first reserves at once for as many steps as
// the one before had, and for twice one more.
func doubledOrAlike(answers, processes int64) int64 {
	return doubled(answers, processes) + (scanRows/scanAccounts+2)*processes
}

// exactly is for functions that reserve nothing ahead.
func exactly(answers, processes int64) int64 { return answers + processes }

// asSetAside is for processes that use three quarters of the amount that they set aside
// before they set more aside.
func asSetAside(answers, processes int64) int64 {
	return setAside * (answers/(setAside*3/4) + processes)
}

// asCounted is for processes that reserve the charges of a statement before it.
func asCounted(answers, processes int64) int64 { return answers + counted*processes }

// asSetAsideOrMarked is asSetAside for traces: the first of a statement is marked, and reserves ahead.
func asSetAsideOrMarked(answers, processes int64) int64 {
	return asSetAside(answers, processes) + doubled(answers, processes)
}

const (
	span        = 100 * time.Millisecond
	connections = 6 // of a process with several
)

var scenarios = []*scenario{
	{
		name: "scan, scalar", prepare: prepareScan, span: span, eps: half, most: doubled,
		players: []play{scan(half,
			release{"m", `SELECT account, geoind_laplace(account, lat, lon, 0.5) FROM t`},
			release{"kWh", `SELECT account, dx_value(account, x, 0.5, 'u') FROM t`},
			release{"m", `SELECT account, geoind_laplace(account, lat, lon, 0.5) FROM t WHERE account = 'a3'`},
		)},
	},
	{
		name: "scan, table-valued", prepare: prepareScan, span: span, eps: half, most: doubled,
		players: []play{scan(half, tableValued), scan(half, tableValued)},
	},
	{
		name: "aggregate in groups", prepare: prepareScan, span: span, eps: half, most: exactly,
		players: []play{scan(half,
			release{"kWh", `SELECT group_concat(DISTINCT account), dx_avg(account, x, 0.5, 'u', 'dinf') FROM many GROUP BY i / 40`},
			release{"record", `SELECT account, dx_count(account, 0.5) FROM many WHERE i < 200 GROUP BY account`},
		)},
	},
	{
		name: "200 accounts at once", prepare: prepareScan, span: span, eps: half, most: exactly, check: allOrNone,
		players: []play{scan(half, release{"kWh", `SELECT group_concat(DISTINCT account), dx_sum(account, x, 0.5, 'u') FROM many`})},
	},
	{
		name: "budget_reserve, then use", prepare: prepareScan, span: span, eps: half,
		most:    asSetAside,
		players: []play{reserveAndScan},
	},
	{
		name: "budget_reserve_for, then use", prepare: prepareScan, span: span, eps: half,
		most:    asCounted,
		players: []play{reserveForScan, reserveForScan},
	},
	{
		name: "limits and windows change", prepare: prepareScan, span: 500 * time.Millisecond, eps: half, window: windowMost * half,
		players: []play{scanWindows, setWindows},
	},
	{
		name: "checkpoints", prepare: prepareScan, span: span, eps: half, most: doubled,
		players: []play{scan(half, tableValued), checkpoint},
	},
	{
		name: "open and close", prepare: prepareScan, span: span, eps: half, most: doubled,
		players: []play{scanOnce},
	},
	{
		name: "create the ledger", prepare: func(*testing.T, string) {}, fresh: true, span: span / 2, eps: half, most: doubled,
		players: []play{createAndScan, createLedger},
	},
	{
		name: "group commit", prepare: prepareScan, span: span, eps: half, most: doubledInConnections,
		players: []play{scanInConnections},
	},
	{
		name: "archive", prepare: prepareScan, span: 2 * span, eps: half, most: doubled,
		players: []play{scan(half, tableValued), archive},
	},
	{
		name: "traces", prepare: prepareTraces, span: span, eps: half, most: doubledOrAlike,
		players: []play{stepTraces},
	},
	{
		name: "traces, reserved", prepare: prepareTraces, span: span, eps: half, most: asSetAsideOrMarked,
		players: []play{stepReserved},
	},
	{
		name: "questions", prepare: prepareScan, span: span, eps: half, most: exactly, check: roleBudgetsFollow,
		players: []play{askQuestions, askQuestions},
	},
	{
		name: "real data: GeoLife points", prepare: prepareGeoLife, span: 2 * span, eps: realEps, most: doubled,
		players: []play{scan(realEps, release{"m", `SELECT p.user, g.lat FROM point AS p, geoind_laplace(p.user, p.lat, p.lon, 0.05) AS g`})},
	},
	{
		name: "real data: meters", prepare: prepareMeters, span: 2 * span, eps: realEps, most: doubled,
		players: []play{scan(realEps, release{"record", `SELECT group_concat(DISTINCT meter), dx_count(meter, 0.05) FROM reading GROUP BY t_local`})},
	},
}
