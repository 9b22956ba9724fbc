package draws

import (
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
	"pgregory.net/rapid"
)

// A window takes charges up to its limit and no more. It begins with the first charge after the last one ended, and only a clock
// that has passed its end ends it. Charges from before there were windows count in one that begins when the limit is set.
func TestChargesKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var document string
		var spent, limit, length, limitSet int64 // of epsilon; seconds
		var window struct{ start, spent int64 }  // of the last charge, if its limit had one
		now := int64(1_000_000)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.Int64Range(-20, 60).Draw(t, "later")
			ana := Account{document, "ana", now * 1e6}
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				limit, length, limitSet = rapid.Int64Range(1, 30).Draw(t, "limit"), rapid.SampledFrom([]int64{0, 50}).Draw(t, "window"), now
				document = must(ana.Limit("m", float64(limit), length))
				continue
			}
			amount := rapid.Int64Range(1, 12).Draw(t, "amount")
			next := window
			if next.start == 0 && spent > 0 {
				next.start, next.spent = limitSet, spent
			}
			if next.start == 0 || now >= next.start+length {
				next.start, next.spent = now, 0
			}
			if length == 0 {
				next.start, next.spent = 0, spent
			}
			charged, err := ana.Charge("m", budget.Amount(amount)*budget.One)
			if can := next.spent+amount <= limit; can != (err == nil) {
				t.Fatalf("%d used of %d, %d asked: %v", next.spent, limit, amount, err)
			}
			if err != nil {
				continue
			}
			document, spent = charged, spent+amount
			if next.spent += amount; length == 0 {
				next.spent = 0
			}
			window = next
		}
	})
}

// The steps of a trace are those of package trace, from the same random bytes, and its run in the store is the run.
func TestTraceIsThatOfThePackage(t *testing.T) {
	policy := map[string]any{"epsilon": 0.02, "steps": 12.0, "predictor": "mixture", "after": "predict"}
	domain, err := planar.NewDomain("paris", 48.80, 2.22, 48.91, 2.47, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := trace.NewPolicy(trace.Predictive, policy)
	if err != nil {
		t.Fatal(err)
	}
	plane := trace.NewPlane(domain)
	want, err := trace.New(plane, p)
	if err != nil {
		t.Fatal(err)
	}
	m := New(rand.NewChaCha8([32]byte{7}))
	frame, _, err := m.Domain("paris", 48.80, 2.22, 48.91, 2.47, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	walk := must(m.DomainTrace(frame, trace.Predictive, policy))
	ana := Account{"", "ana", 1}
	ana.Document = must(Account{"", "*", 1}.Limit("m", 1, 0))

	source := exact.NewSmallSource(rand.NewChaCha8([32]byte{7}))
	var run trace.Run
	for i := range int64(12) {
		lat, lon, at := 48.85+float64(i)*2e-4, 2.35, i*60e6
		plan, err := want.Plan(&run, at)
		if err != nil {
			t.Fatal(err)
		}
		point := want.Draw(source, plan, plane.Cell(lat, lon))
		source.Erase()
		if err := want.Add(&run, point); err != nil {
			t.Fatal(err)
		}
		step, document, err := m.Begin(ana, walk.Handle, "walk", nil, at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Draw(step, lat, lon)
		if err != nil {
			t.Fatal(err)
		}
		wantLat, wantLon := plane.Location(point.Z)
		if got[0] != wantLat || got[1] != wantLon || got[2] != number(point.Hard) || got[3] != number(point.Tested) || got[4] != point.Spent.Float64() {
			t.Fatalf("step %d reports %v, want %v", i, got, point)
		}
		if again, err := m.Draw(step, lat, lon); err == nil {
			t.Fatalf("a step is drawn twice, and then as %v", again)
		}
		ana.Document = document
		ana.Document = must(m.End(ana, step))
	}
	state := must(ana.Run("walk"))
	if binary, _ := run.AppendBinary(nil); string(binary) != string(state) {
		t.Errorf("the run is %x, want %x", state, binary)
	}
	balance := must(ana.Balance("m"))
	if spent := run.History().Spent; balance.Spent != spent {
		t.Errorf("%v is spent, and the run says %v", balance.Spent, spent)
	}
}

// A step that another tab has overtaken returns nothing, and leaves the other's run; one that was never drawn stays charged.
func TestOvertakenStep(t *testing.T) {
	m := New(nil)
	u, _, err := m.Universe("h", 0, 24, 0.25, "h")
	if err != nil {
		t.Fatal(err)
	}
	walk := must(m.UniverseTrace(u, trace.Predictive, map[string]any{"universe": "h", "epsilon": 2.0, "steps": 10.0}))
	ana := Account{must(Account{"", "*", 1}.Limit("h", 9, 0)), "ana", 1}
	begin := func(at int64) (step uint32) {
		var err error
		if step, ana.Document, err = m.Begin(ana, walk.Handle, "day", nil, at); err != nil {
			t.Fatal(err)
		}
		return step
	}
	first := begin(1)
	if _, err := m.Draw(first, 7, 0); err != nil {
		t.Fatal(err)
	}
	second := begin(2)
	if after := must(m.End(ana, first)); after != ana.Document {
		t.Errorf("the first step changes %s to %s", ana.Document, after)
	}
	if after := must(m.End(ana, second)); after != ana.Document {
		t.Errorf("a step that was not drawn changes %s to %s", ana.Document, after)
	}
}

// A document reads as it was written, whatever the names in it.
func TestDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, number := rapid.String(), rapid.Int64()
		d := new(document)
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			e := d.entry(rapid.SampledFrom([]string{limited, spent, traces}).Draw(t, "kind"), name.Draw(t, "account"), name.Draw(t, "name"))
			if e.kind == traces {
				e.run = rapid.SliceOf(rapid.Byte()).Draw(t, "run")
			} else {
				e.numbers = [...]int64{number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c")}
			}
		}
		again, err := parseDocument(d.text())
		if err != nil || again.text() != d.text() {
			t.Fatalf("%q reads as %q, %v", d.text(), again.text(), err)
		}
	})
}

func TestDamagedDocuments(t *testing.T) {
	const limit = `limit "ana" "m" 5 0 1` + "\n"
	for _, text := range []string{
		"x", "geosql-device 2\n", header + "\n", header + limit + limit, header + limit[:len(limit)-1], header + limit[1:],
		header + `limit "ana" "m" 5 0` + "\n", header + `limit "ana" "m" 5 0 1 1` + "\n", header + `limit "ana" "m" 5 0 9223372036854775808` + "\n",
		header + `limit ana "m" 5 0 1` + "\n", header + `limit "ana" "m"` + "\n", header + `trace "ana" "walk" ?` + "\n",
		header + `limit "ana" "m" -1 0 1` + "\n", header + limit + `spent "ana" "m" -1 0 0` + "\n", header + limit + `spent "ana" "m" 9223372036854775807 0 0` + "\n",
	} {
		if after, err := (Account{text, "ana", 1}).Charge("m", 1); err != errDamaged {
			t.Errorf("%q: %q, %v", text, after, err)
		}
	}
}

// A document that was changed in any place is damaged, or has a balance within its limit after a charge.
func FuzzDocument(f *testing.F) {
	document := must(Account{"", "*", 1}.Limit("m", 1, 60))
	f.Add(must(Account{document, "ana", 1}.Charge("m", 1000)))
	f.Add(header + `limit "*" "m" 9000000000000000000 0 1` + "\n" + `spent "ana" "m" 8999999999999999999 0 0` + "\n")
	f.Fuzz(func(t *testing.T, document string) {
		ana := Account{document, "ana", 5}
		after, err := ana.Charge("m", 10*budget.One)
		if err != nil {
			return
		}
		ana.Document = after
		if b, err := ana.Balance("m"); err != nil || b.Remaining() < 0 || b.Window == 0 && b.Spent > b.Limit || b.Spent < 10*budget.One {
			t.Errorf("%q: %+v, %v", document, b, err)
		}
	})
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
