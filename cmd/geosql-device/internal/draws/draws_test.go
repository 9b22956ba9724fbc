package draws

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
	"pgregory.net/rapid"
)

// call calls a function of a module, and returns its result through JSON, as JavaScript has it.
func call[T any](t rapid.TB, m *Module, name string, arguments map[string]any) (result T, problem string) {
	t.Helper()
	request, err := json.Marshal(map[string]any{"function": name, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Value T
		Error string
	}
	if err := json.Unmarshal(m.Functions().Call(request), &a); err != nil {
		t.Fatal(err)
	}
	return a.Value, a.Error
}

func must[T any](t rapid.TB, m *Module, name string, arguments map[string]any) T {
	t.Helper()
	result, problem := call[T](t, m, name, arguments)
	if problem != "" {
		t.Fatalf("%s: %s", name, problem)
	}
	return result
}

// A window takes charges up to its limit and no more. It begins with the first charge after the last one ended, and only a clock
// that has passed its end ends it. Charges from before there were windows count in one that begins when the limit is set.
func TestChargesKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(nil)
		var document string
		var spent, limit, length, limitSet int64 // of epsilon; seconds
		var window struct{ start, spent int64 }  // of the last charge, if its limit had one
		now := int64(1_000_000)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.Int64Range(-20, 60).Draw(t, "later")
			on := map[string]any{"document": document, "account": "ana", "unit": "m", "now": now * 1e6}
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				limit, length, limitSet = rapid.Int64Range(1, 30).Draw(t, "limit"), rapid.SampledFrom([]int64{0, 50}).Draw(t, "window"), now
				on["epsilon"], on["window"] = limit, length
				document = must[string](t, m, "limit", on)
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
			on["amount"] = quanta(budget.Amount(amount) * budget.One)
			charged, problem := call[string](t, m, "charge", on)
			if can := next.spent+amount <= limit; can != (problem == "") {
				t.Fatalf("%d used of %d, %d asked: %q", next.spent, limit, amount, problem)
			}
			if problem != "" {
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
	const policy = `{"epsilon": 0.02, "steps": 12, "predictor": "mixture", "after": "predict"}`
	domain, err := planar.NewDomain("paris", 48.80, 2.22, 48.91, 2.47, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := trace.ParsePolicy(trace.Predictive, []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	plane := trace.NewPlane(domain)
	want, err := trace.New(plane, p)
	if err != nil {
		t.Fatal(err)
	}
	m := New(rand.NewChaCha8([32]byte{7}))
	type handle struct{ Handle uint32 }
	frame := must[handle](t, m, "domain", map[string]any{"name": "paris", "south": 48.80, "west": 2.22, "north": 48.91, "east": 2.47, "stepM": 1})
	walk := must[handle](t, m, "trace", map[string]any{"domain": frame.Handle, "mechanism": trace.Predictive, "policy": policy})
	document := must[string](t, m, "limit", map[string]any{"document": "", "account": "*", "unit": "m", "epsilon": 1, "now": 1})

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
		step := must[struct {
			Handle   uint32
			Document string
		}](t, m, "begin", map[string]any{"trace": walk.Handle, "document": document, "account": "ana", "name": "walk", "now": 1, "t": at})
		got, err := m.Draw(step.Handle, lat, lon)
		if err != nil {
			t.Fatal(err)
		}
		wantLat, wantLon := plane.Location(point.Z)
		if got[0] != wantLat || got[1] != wantLon || got[2] != number(point.Hard) || got[3] != number(point.Tested) || got[4] != point.Spent.Float64() {
			t.Fatalf("step %d reports %v, want %v", i, got, point)
		}
		if !panics(func() { m.Draw(step.Handle, lat, lon) }) {
			t.Fatal("a step is drawn twice")
		}
		document = must[string](t, m, "end", map[string]any{"step": step.Handle, "document": step.Document, "now": 1})
	}
	state := must[[]byte](t, m, "run", map[string]any{"document": document, "account": "ana", "name": "walk"})
	if binary, _ := run.AppendBinary(nil); string(binary) != string(state) {
		t.Errorf("the run is %x, want %x", state, binary)
	}
	balance := must[struct{ Spent float64 }](t, m, "balance", map[string]any{"document": document, "account": "ana", "unit": "m", "now": 1})
	if spent := run.History().Spent.Float64(); balance.Spent != spent {
		t.Errorf("%v is spent, and the run says %v", balance.Spent, spent)
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// A step that another tab has overtaken returns nothing, and leaves the other's run; one that was never drawn stays charged.
func TestOvertakenStep(t *testing.T) {
	m := New(nil)
	type begun struct {
		Handle   uint32
		Document string
	}
	u := must[begun](t, m, "universe", map[string]any{"name": "h", "lo": 0, "hi": 24, "step": 0.25, "unit": "h"})
	walk := must[begun](t, m, "trace", map[string]any{"universe": u.Handle, "mechanism": trace.Predictive, "policy": `{"universe": "h", "epsilon": 2, "steps": 10}`})
	document := must[string](t, m, "limit", map[string]any{"document": "", "account": "*", "unit": "h", "epsilon": 9, "now": 1})
	begin := func(at int64) begun {
		b := must[begun](t, m, "begin", map[string]any{"trace": walk.Handle, "document": document, "account": "ana", "name": "day", "now": 1, "t": at})
		document = b.Document
		return b
	}
	first := begin(1)
	if _, err := m.Draw(first.Handle, 7, 0); err != nil {
		t.Fatal(err)
	}
	second := begin(2)
	before := document
	document = must[string](t, m, "end", map[string]any{"step": first.Handle, "document": document, "now": 1})
	if document != before {
		t.Errorf("the first step changes %s to %s", before, document)
	}
	document = must[string](t, m, "end", map[string]any{"step": second.Handle, "document": document, "now": 1})
	if document != before {
		t.Errorf("a step that was not drawn changes %s to %s", before, document)
	}
}

// A document that was changed in any place is an error, or keeps every limit: it never panics.
func FuzzDocument(f *testing.F) {
	m := New(nil)
	document := must[string](f, m, "limit", map[string]any{"document": "", "account": "*", "unit": "m", "epsilon": 1, "window": 60, "now": 1})
	f.Add(must[string](f, m, "charge", map[string]any{"document": document, "account": "ana", "unit": "m", "amount": "1000", "now": 1}))
	f.Add(`{"version":1,"limits":{"*":{"m":{"limit":"-1"}}},"accounts":{"ana":{"m":{"spent":"9223372036854775807"}}}}`)
	f.Fuzz(func(t *testing.T, document string) {
		request, _ := json.Marshal(map[string]any{"function": "charge", "arguments": map[string]any{
			"document": document, "account": "ana", "unit": "m", "amount": quanta(10 * budget.One), "now": 5}})
		if answer := string(m.Functions().Call(request)); strings.Contains(answer, "nil pointer") || strings.Contains(answer, "out of range") {
			t.Errorf("%s: %s", document, answer)
		}
	})
}
