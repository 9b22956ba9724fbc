package main_test

import (
	"bufio"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

// TestKill kills a host at its work, again and again, after it has given an ever
// greater number of answers: all of them are charged, and the lost part of a
// reservation is no larger than the used part. (Python fetches a row ahead.)
func TestKill(t *testing.T) {
	const epsilon = 0.25
	for _, h := range hosts(t) {
		t.Run(h.name, func(t *testing.T) {
			db, path := declared(t, 9000000)
			db.SetMaxIdleConns(0) // nobody else has the ledger open while a host runs
			var before float64
			for _, kill := range trials.Some(t, 4, 1, 2, 3, 6, 7, 10, 100, 900, 1006, 1007, 1500, 3000) {
				cmd := h.script(t, library.path(t), "spend.py", path)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				answers := 0
				for lines := bufio.NewScanner(out); lines.Scan(); {
					if answers++; answers == kill {
						cmd.Process.Kill()
					}
				}
				cmd.Wait()
				var spent float64
				if err := db.QueryRow(`SELECT budget_spent('ana', 'm')`).Scan(&spent); err != nil {
					t.Fatal(err)
				}
				charged := (spent - before) / epsilon
				before = spent
				if answers < kill || charged < float64(answers) || charged > 2*float64(answers)+8 {
					t.Errorf("killed at %d: %d answers, %v charged", kill, answers, charged)
				}
			}
		})
	}
}
