package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// One database, one ledger, whatever host it is opened in: all of them at once spend
// the declarations made in Go, and their spending is the sum.
func TestHostsShareOneLedger(t *testing.T) {
	const charges = 20 // of each host
	database := filepath.Join(t.TempDir(), "main.db")
	if err := succeed(runGo(database, []string{
		`SELECT dx_universe('u', 0, 10, 1, 'kWh')`,
		`SELECT budget_limit('ana', 'kWh', 9000)`,
	})); err != nil {
		t.Fatal(err)
	}
	var statements []string
	for range charges {
		statements = append(statements, `SELECT dx_value('ana', 3, 0.1, 'u');`)
	}
	running := 0
	var wait sync.WaitGroup
	errs := make([]error, len(hosts))
	for i, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			if strings.Contains(h.name, " on ") {
				t.Skip("an emulator need not lock files as the system does that it runs on")
			}
			run := h.start(t) // or skip this one
			running++
			wait.Go(func() { errs[i] = succeed(run(database, statements)) })
		})
	}
	wait.Wait()
	if running == 0 {
		t.Skip("no host was asked for")
	}
	for i, err := range errs {
		if err != nil {
			t.Errorf("%s: %v", hosts[i].name, err)
		}
	}
	outcomes, err := runGo(database, []string{`SELECT budget_spent('ana', 'kWh'), (SELECT sum(evaluations) FROM ledger_charges)`})
	if err != nil {
		t.Fatal(err)
	}
	evaluations := charges * running
	if got, want := fmt.Sprint(outcomes[0].Rows), fmt.Sprintf("[[%s %d]]", literal(float64(evaluations)/10), evaluations); got != want {
		t.Errorf("%d hosts spent %s, want %s", running, got, want)
	}
}

// succeed returns the first error of a run, of the host or of a statement.
func succeed(outcomes []outcome, err error) error {
	for _, o := range outcomes {
		if err == nil && o.Error != "" {
			err = fmt.Errorf("%s", o.Error)
		}
	}
	return err
}
