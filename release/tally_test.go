package release

import (
	"fmt"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

func TestTally(t *testing.T) {
	var tl tally
	for range 2 { // reset forgets
		tl.reset()
		for _, a := range []string{"b", "a", "b", "", "c"} {
			tl.add([]byte(a), 2)
		}
		want := []ledger.Item{{Account: "", Epsilon: 10, Evaluations: 2}, {Account: "a", Epsilon: 10, Evaluations: 2},
			{Account: "b", Epsilon: 20, Evaluations: 4}, {Account: "c", Epsilon: 10, Evaluations: 2}}
		if got := tl.items(5); !slices.Equal(got, want) {
			t.Errorf("items %v", got)
		}
		if n := len(slices.Collect(tl.each(5))); n != 4 {
			t.Errorf("%d items", n)
		}
		for item := range tl.each(5) {
			if item.Account != "b" {
				t.Errorf("the first is %v", item)
			}
			break
		}
	}
	if err := tl.check(budget.Max / 4); err != nil {
		t.Error(err)
	}
	if err := tl.check(budget.Max/4 + 1); err == nil {
		t.Error("more than any budget holds")
	}
}

func TestCensus(t *testing.T) {
	c := census{most: 10}
	for i := range 15 {
		var tl tally
		tl.add(fmt.Append(nil, "u", i/2), 1)
		c.merge(&tl)
	}
	if c.distinct != 8 || c.more {
		t.Errorf("%d accounts, more: %v", c.distinct, c.more)
	}
	for i := range 30 {
		var tl tally
		tl.add(fmt.Append(nil, "v", i), 1)
		c.merge(&tl)
	}
	if c.distinct != 10 || !c.more || c.names.Len() > 11 {
		t.Errorf("%d accounts, more: %v, %d names", c.distinct, c.more, c.names.Len())
	}
}
