package engine_test

import (
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// An amount drawn from a pool before it was taken back does not come back to it.
func TestPoolIsNotFilledAgain(t *testing.T) {
	l, err := file.OpenMemory("")
	check(t, err)
	defer l.Close()
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	covered := l.DrawAndReturn("m", []ledger.Item{{Account: "ana", Epsilon: 10}}, func() { check(t, l.SetLimit("*", "m", 50, 0)) })
	if !covered {
		t.Fatal("the pool is empty")
	}
	if left := l.Pooled(engine.Key{Account: "ana", Unit: "m"}); left != 0 {
		t.Errorf("the pool has %d", int64(left))
	}
	if b, err := l.Balance("ana", "m"); err != nil || b.Reserved != 0 {
		t.Errorf("got %+v, %v", b, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
