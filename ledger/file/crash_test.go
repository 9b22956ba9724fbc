package file_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
)

// The crash harness. TestCrashKill kills processes that run SQL, at
// random moments, and the tests TestCrashFault.. break the ledger's file, its
// folder, its locks and its neighbours. After each of them every answer that was
// seen must be charged, the fault be named, and the budget be usable once
// the fault is gone.
//
//	go test ./ledger -run Crash
//	GEOSQL_KILLS=1000 go test ./ledger -run Crash -v -timeout 60m
//
// GEOSQL_KILLS is the number of kills, spread over the scenarios. With it the
// figures of docs/crash.md are printed at the end.

// fewKills is how many kills a scenario gets without GEOSQL_KILLS.
const fewKills = 4

// generations is how many times the processes of a round are run and killed
// before the ledger is looked at: the later ones find the remains of the
// earlier ones.
const generations = 2

// kills is the number of kills of a round.
func (s *scenario) kills() int { return generations * len(s.players) }

func killsPerScenario(t *testing.T) int {
	n := trials.Count(t, "GEOSQL_KILLS", fewKills*len(scenarios))
	return (n + len(scenarios) - 1) / len(scenarios)
}

func TestCrashKill(t *testing.T) {
	t.Parallel() // with tests that wait
	kills := killsPerScenario(t)
	var all []figures
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) { all = append(all, s.run(t, kills)) })
	}
	t.Log(table(all))
	answers := int64(0)
	for _, f := range all {
		answers += f.answers
	}
	if answers < int64(kills) {
		t.Errorf("all processes together had %d answers: they were killed before they did anything", answers)
	}
}

// run kills the scenario's processes until that many have been killed.
func (s *scenario) run(t *testing.T, kills int) figures {
	f := figures{scenario: s.name}
	var (
		dir  string
		head *ledger.Head
		seen testimony
	)
	for f.kills < kills {
		if dir == "" || s.fresh {
			dir, head, seen = t.TempDir(), nil, newTestimony()
			s.prepare(t, dir)
		}
		before, err := readState(ledgerFile(dir))
		check(t, err)
		told := newTestimony()
		for range generations {
			s.kill(t, dir, &told)
		}
		seen.recall(told)
		f.kills += s.kills()

		after, reached, err := recovered(dir, head)
		if err != nil {
			f.failures++
			t.Errorf("not usable: %v", err)
			return f
		}
		head = reached
		v := judge(s, before, after, told)
		v.faults = append(v.faults, judgeWindows(s, after, seen)...)
		for _, fault := range v.faults {
			t.Error(fault)
		}
		f.add(v)
	}
	return f
}

// figures are the results of a scenario's kills, in answers.
type figures struct {
	scenario           string
	kills, rounds      int
	answers, charged   int64
	uncharged          int64
	wasted, mostWasted float64 // shares of the charge of a round: their sum, the largest
	failures           int
}

func (f *figures) add(v verdict) {
	f.rounds++
	f.answers += v.answered
	f.charged += v.charged
	f.uncharged += v.uncharged
	if v.charged > 0 {
		share := float64(v.charged+v.uncharged-v.answered) / float64(v.charged)
		f.wasted += share
		f.mostWasted = max(f.mostWasted, share)
	}
}

// table is the figures as those of docs/crash.md.
func table(all []figures) string {
	var b strings.Builder
	b.WriteString("\n| scenario | kills | answers | charged | uncharged answers | wasted, mean | wasted, largest | not recovered |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	var sum figures
	for _, f := range all {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.1f %% | %.1f %% | %d |\n", f.scenario, f.kills, f.answers, f.charged,
			f.uncharged, 100*f.wasted/float64(max(1, f.rounds)), 100*f.mostWasted, f.failures)
		sum.kills += f.kills
		sum.answers += f.answers
		sum.charged += f.charged
		sum.uncharged += f.uncharged
		sum.failures += f.failures
	}
	fmt.Fprintf(&b, "| **all** | %d | %d | %d | %d | | | %d |\n", sum.kills, sum.answers, sum.charged, sum.uncharged, sum.failures)
	return b.String()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
