package spin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/proved"
)

// all has even those models verified that testdata/proved.txt lists.
var all = os.Getenv("GEOSQL_SPIN") != ""

// source returns the models without comments and space.
func source(t *testing.T) string {
	t.Helper()
	models, err := filepath.Glob("*.pml")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, model := range models {
		b, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(comment.ReplaceAll(b, nil))
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// verify wants an assertion of a model to be violated, or none if violated is empty. It skips the test where the programs are missing.
func verify(t *testing.T, list *proved.List, model string, megabytes int, macros, violated string) {
	t.Helper()
	list.Check(t, model+" "+macros, []string{source(t), violated}, func() error {
		need.Programs(t, "spin", "gcc")
		v, err := Verify(model, megabytes, violated != "", strings.Fields(macros)...)
		t.Logf("%s %s: %+v", model, macros, v)
		if err == nil && v.Violated != violated {
			err = fmt.Errorf("%q is violated after %d steps, want %q", v.Violated, v.Depth, violated)
		}
		return err
	})
}

// The assertions hold in every state.
func TestEveryState(t *testing.T) {
	list := proved.Read(t, ".", all)
	for _, c := range []struct{ model, macros string }{
		{"ledger.pml", "PROCESSES=3 LIMIT=1 NO_FAILURES"},
		{"ledger.pml", "PROCESSES=3 LIMIT=1 WINDOW=0"},
		{"ledger.pml", "PROCESSES=1 LIMIT=2 WINDOW=2"},
		{"ledger.pml", "PROCESSES=1 LIMIT=2 WINDOW=0 DOUBT"},
		{"ledger.pml", "PROCESSES=2 LIMIT=1 WINDOW=0 DOUBT"},
		{"ledger.pml", "PROCESSES=1 PER=2 LIMIT=1 NO_FAILURES"},
		{"ledger.pml", "PROCESSES=1 PER=2 LIMIT=1 WINDOW=0 DOUBT"},
		{"trace.pml", "PROCESSES=3"},
		{"lease.pml", "NAMES=1"},
		{"lease.pml", "NAMES=1 LEASING=1 DOUBT"},
		{"lease.pml", "POINTS=1 LEASING=1"},
		{"lease.pml", "PROCESSES=1 POINTS=1 DOUBT"},
		{"lease.pml", "PROCESSES=1 MOST=2 LIMIT=3"},
	} {
		verify(t, list, c.model, 2048, c.macros, "")
	}
}

// Models that take minutes are verified with GEOSQL_SPIN set.
func TestEveryStateOfMore(t *testing.T) {
	if !all {
		t.Skip("GEOSQL_SPIN is not set")
	}
	list := proved.Read(t, ".", all)
	for _, c := range []struct{ model, macros string }{
		{"ledger.pml", "PROCESSES=3 LIMIT=2 WINDOW=0 NO_FAILURES"},
		{"ledger.pml", "PROCESSES=1 PER=2 LIMIT=2 WINDOW=0 DOUBT"},
		{"lease.pml", "NAMES=1 POINTS=3 MOST=2 LIMIT=3"},
		{"lease.pml", "NAMES=1 DOUBT"},
		{"lease.pml", "POINTS=1"},
		{"lease.pml", "POINTS=1 LEASING=1 DOUBT"},
	} {
		verify(t, list, c.model, 8192, c.macros, "")
	}
}

// Each planted fault is found, by the assertion that is named.
func TestPlantedFaults(t *testing.T) {
	list := proved.Read(t, ".", all)
	for _, c := range []struct{ fault, model, macros, violated string }{
		{"ANSWER_FIRST", "ledger.pml", "PROCESSES=1 WINDOW=0", "granted_is_covered"},
		{"RETURNED_TWICE", "ledger.pml", "PROCESSES=2 NO_FAILURES", "granted_in_term_is_covered"},
		{"WINDOW_EARLY", "ledger.pml", "PROCESSES=1 LIMIT=1 WINDOW=2", "window_was_over"},
		{"OLD_TERM_USED", "ledger.pml", "PROCESSES=1 NO_FAILURES", "term_was_open"},
		{"RETURN_TO_NEW_WINDOW", "ledger.pml", "PROCESSES=1 NO_FAILURES", "reserved_is_there"},
		{"LIMIT_READ_BEFORE", "ledger.pml", "PROCESSES=2 LIMIT=1 WINDOW=0 NO_FAILURES", "within_limit"},
		{"LIMIT_NOT_RECALLED", "ledger.pml", "PROCESSES=2 NO_FAILURES", "limit_was_heeded"},
		{"FILLED_AFTER_RECALL", "ledger.pml", "PROCESSES=1 PER=2 LIMIT=1 WINDOW=0 NO_FAILURES", "limit_was_heeded"},
		{"RETURNED_AFTER_RECALL", "ledger.pml", "PROCESSES=1 PER=2 LIMIT=2 WINDOW=0 NO_FAILURES", "limit_was_heeded"},
		{"DRAWN_UNSEEN", "ledger.pml", "PROCESSES=2 PER=2 LIMIT=1 WINDOW=0 NO_FAILURES", "limit_was_heeded"},
		{"REFUND_AFTER_CRASH", "ledger.pml", "PROCESSES=2 NO_FAILURES", "granted_in_term_is_covered"},
		{"NOTES_WAIT_AGAIN", "ledger.pml", "PROCESSES=2 WINDOW=0 DOUBT", "held_is_reserved"},
		{"HOLD_KEPT_IN_DOUBT", "ledger.pml", "PROCESSES=1 WINDOW=0 DOUBT", "held_is_reserved"},
		{"UNFENCED", "trace.pml", "PROCESSES=2", "follows_its_state"},
		{"LEASE_UNSEEN", "lease.pml", "NAMES=1", "lost_is_counted"},
		{"LEASED_FIRST", "lease.pml", "NAMES=1 DOUBT", "lost_is_counted"},
		{"ENDED_FIRST", "lease.pml", "NAMES=1", "lost_is_counted"},
		{"ENDED_IN_DOUBT", "lease.pml", "NAMES=1 DOUBT", "lost_is_counted"},
		{"SAVED_UNSEEN", "lease.pml", "NAMES=1", "follows_its_state"},
		{"SAVED_IN_DOUBT", "lease.pml", "PROCESSES=1 DOUBT", "follows_its_state"},
		{"LOST_UNSEEN", "lease.pml", "NAMES=1", "lost_is_counted"},
		{"NEW_FORGOTTEN", "lease.pml", "NAMES=1", "lost_is_counted"},
		{"MOST_SHRINKS", "lease.pml", "PROCESSES=1 MOST=2 LIMIT=3", "lost_is_counted"},
		{"TAKEN_AGAIN", "lease.pml", "POINTS=1 LEASING=1 NO_CRASHES", "follows_its_state"},
		{"RESTART_REFUNDS", "lease.pml", "NAMES=1", "seen_is_covered"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			verify(t, list, c.model, 2048, c.macros+" FAULT_"+c.fault, c.violated)
		})
	}
}

// A search that was cut short, or has failed, is no proof.
func TestIncompleteSearches(t *testing.T) {
	const complete = "State-vector 10 byte, depth reached 5, errors: 0\n 7 states, stored\n"
	if v, err := parseVerdict(complete); err != nil || v.States != 7 || v.Depth != 5 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, out := range []string{
		"",
		"error: max search depth too small\n" + complete,
		"pan: out of memory\n" + complete,
		"Warning: Search not completed\n" + complete,
		strings.Replace(complete, "errors: 0", "errors: 1", 1),
		strings.Replace(complete, "7 states", "0 states", 1),
	} {
		if v, err := parseVerdict(out); err == nil {
			t.Errorf("%q is taken for %+v", out, v)
		}
	}
}
