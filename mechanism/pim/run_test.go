package pim

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
)

const minute = int64(time.Minute / time.Microsecond)

// cityModel returns the model of people who walk in circles around the middle of a
// grid of about size x size cells, 500 m each.
func cityModel(t testing.TB, size int) *markov.Model {
	t.Helper()
	half := float64(size) * 250 / 111_000
	d, err := planar.NewDomain("city", 40-half, 116-half/math.Cos(40*math.Pi/180), 40+half, 116+half/math.Cos(40*math.Pi/180), 50)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := markov.NewGrid(d, 500)
	if err != nil {
		t.Fatal(err)
	}
	trainer := markov.NewTrainer(grid, time.Minute)
	for _, radius := range []float64{0.2, 0.5, 0.8} {
		for minutes := range int64(600) {
			lat, lon := circle(half*radius, minutes)
			trainer.Add(string(rune('a'+int(10*radius))), minutes*minute, lat, lon)
		}
	}
	m, err := trainer.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func circle(radius float64, minutes int64) (lat, lon float64) {
	sin, cos := math.Sincos(float64(minutes) / 20)
	return 40 + radius*sin, 116 + radius*cos
}

func mechanism(t testing.TB, m *markov.Model, law string, p Policy) *Mechanism {
	t.Helper()
	mechanism, err := New(m, law, p)
	if err != nil {
		t.Fatal(err)
	}
	return mechanism
}

func plan(t testing.TB, r *Run, at int64) *Plan {
	t.Helper()
	p, err := r.Plan(at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func policy() Policy {
	return Policy{Model: "city", Epsilon: budget.One, Delta: budget.One / 100, MinSet: 1}
}

func total(belief []float64) (sum float64) {
	for _, p := range belief {
		sum += p
	}
	return sum
}

// Over long runs the prior and the posterior sum to one, the posterior is Bayes'
// with the emission of surrogates, and the set has its share of the prior.
func TestRun(t *testing.T) {
	m := cityModel(t, 16)
	src := exact.NewSource(nil)
	for _, law := range laws {
		r := mechanism(t, m, law, policy()).Start()
		for k := range int64(300) {
			p := plan(t, r, k*minute)
			lat, lon := circle(0.03, k)
			z := p.Draw(src, m.Grid().Index(lat, lon))
			prior := slices.Clone(p.prior)
			var inSet float64
			for _, cell := range p.Set() {
				inSet += prior[cell]
			}
			if math.Abs(total(prior)-1) > 1e-9 || inSet < 0.99-1e-9 {
				t.Fatalf("%s, step %d: the prior sums to %v, in the set to %v", law, k, total(prior), inSet)
			}
			r.Add(p, z)
			want := bayes(p, prior, z)
			for cell, q := range r.belief {
				if math.Abs(q-want[cell]) > 1e-12 {
					t.Fatalf("%s, step %d: posterior of %d is %v, not %v", law, k, cell, q, want[cell])
				}
			}
		}
	}
}

// bayes is equation 1, cell by cell.
func bayes(p *Plan, prior []float64, z planar.Cell) []float64 {
	posterior := make([]float64, len(prior))
	for cell := range prior {
		x := p.grid().Centre(p.Surrogate(cell))
		emission := math.Exp(-p.noise.exponent(vector{z.I - x.I, z.J - x.J}))
		posterior[cell] = prior[cell] * emission
	}
	sum := total(posterior)
	for cell := range posterior {
		posterior[cell] /= sum
	}
	return posterior
}

// Reports find a secret that the set had left out (erratum 17): it is in the set within
// some ten steps and hardly ever leaves it again. In 6,000 runs of 200 steps it was out
// for less than 30, and every three steps more are half as likely: 200 steps of 2,000
// have a probability far below 1e-12.
func TestDriftMends(t *testing.T) {
	m := cityModel(t, 16)
	src := exact.NewSource(nil)
	p := policy()
	p.Epsilon = 4 * budget.One
	r := mechanism(t, m, PIM, p).Start()
	there := m.Grid().Index(40-0.03, 116+0.035) // a corner where nobody walks
	if plan(t, r, 0).Contains(there) {
		t.Fatal("the first set has it")
	}
	inside := 0
	for k := range int64(2000) {
		p := plan(t, r, k*minute)
		if p.Contains(there) {
			inside++
		}
		r.Add(p, p.Draw(src, there))
	}
	if inside < 1800 {
		t.Errorf("in %d sets of 2,000", inside)
	}
}

// The next step of a run follows from its reports, not from the secrets that were
// drawn from, and least from whether they were in the set.
func TestNothingFromDrift(t *testing.T) {
	m := mechanism(t, cityModel(t, 16), PIM, policy())
	one, other := m.Start(), m.Start()
	src := exact.NewSource(nil)
	for k := range int64(50) {
		p, q := plan(t, one, k*minute), plan(t, other, k*minute)
		far := 0
		z := p.Draw(src, far)
		_ = q.Draw(src, m.Model().Grid().Len()/2)
		one.Add(p, z)
		other.Add(q, z)
	}
	if !bytes.Equal(one.AppendBinary(nil), other.AppendBinary(nil)) {
		t.Error("runs of the same reports differ")
	}
	// A cell outside is drawn from like its surrogate.
	p := plan(t, one, 50*minute)
	for cell := range m.Model().Grid().Len() {
		if s := p.Surrogate(cell); p.Surrogate(s) != s || p.Contains(cell) != slices.Contains(p.Set(), cell) {
			t.Fatalf("cell %d: surrogate %d", cell, s)
		}
	}
}

// A run goes on from its state as if nothing had been between.
func TestResume(t *testing.T) {
	m := mechanism(t, cityModel(t, 12), PIM, policy())
	src := exact.NewSource(nil)
	steady, broken := m.Start(), m.Start()
	for k := range int64(60) {
		at := k*minute + k*k*1000
		p, q := plan(t, steady, at), plan(t, broken, at)
		if !slices.Equal(p.Set(), q.Set()) {
			t.Fatalf("step %d: sets %v and %v", k, p.Set(), q.Set())
		}
		z := p.Draw(src, 40)
		steady.Add(p, z)
		broken.Add(q, z)
		state := broken.AppendBinary(nil)
		var err error
		if broken, err = m.Resume(state); err != nil {
			t.Fatal(err)
		}
		if again := broken.AppendBinary(nil); !bytes.Equal(again, state) || !bytes.Equal(steady.AppendBinary(nil), state) {
			t.Fatalf("step %d: states differ", k)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	m := mechanism(t, cityModel(t, 8), PIM, policy())
	if len(m.Start().AppendBinary(nil)) != 0 {
		t.Error("a run without points has a state")
	}
	for _, reports := range []int{1, fewReports, fewReports + 1} {
		state := runOf(t, m, reports).AppendBinary(nil)
		for name, bad := range map[string][]byte{
			"version":   append([]byte{9}, state[1:]...),
			"short":     state[:len(state)-1],
			"long":      append(slices.Clone(state), 0),
			"one byte":  {1},
			"two bytes": {1, 2},
			"no report": {2, 0x80, 1, 0xd0, 0x0f, 0, 2},
			"sum":       append(slices.Clone(state[:len(state)-8]), bytes.Repeat([]byte{0x3f}, 8)...),
			"far":       varints(2, 64, int64(budget.One), 0, 1, 1, 1<<50, 0),
			"backwards": varints(2, 64, int64(budget.One), 0, 1, 8, 0, 0, 6, 0, 0),
			"epsilon 0": varints(2, 64, 0, 0, 1, 8, 0, 0),
			"a grid":    varints(2, 65, int64(budget.One), 0, 1, 8, 0, 0),
		} {
			if _, err := m.Resume(bad); err == nil {
				t.Errorf("%d reports, %s: accepted", reports, name)
			}
		}
	}
}

// varints returns a version and numbers.
func varints(version byte, numbers ...int64) []byte {
	b := []byte{version}
	for _, v := range numbers {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// A run with few reports made under another policy goes on with their meaning under that.
func TestResumeUnderAnotherPolicy(t *testing.T) {
	model, other := cityModel(t, 8), policy()
	other.Epsilon, other.MinSet = other.Epsilon/2, 60
	before := runOf(t, mechanism(t, model, PIM, other), 2)
	r, err := mechanism(t, model, PIM, policy()).Resume(before.AppendBinary(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.belief, before.belief) || r.AppendBinary(nil)[0] != beliefVersion {
		t.Error("the belief is another one")
	}
	if set := plan(t, r, 100*minute).Set(); len(set) >= len(plan(t, before, 100*minute).Set()) {
		t.Errorf("the set is that of the other policy: %v", set)
	}
}

// runOf returns a run of so many reports.
func runOf(t testing.TB, m *Mechanism, reports int) *Run {
	r, src := m.Start(), exact.NewSource(nil)
	for k := range int64(reports) {
		p := plan(t, r, (k+1)*minute)
		r.Add(p, p.Draw(src, 3))
	}
	return r
}

func FuzzResume(f *testing.F) {
	m := mechanism(f, cityModel(f, 4), PIM, policy())
	for _, reports := range []int{1, fewReports, fewReports + 1} {
		f.Add(runOf(f, m, reports).AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		r, err := m.Resume(state)
		if err != nil || !r.begun {
			return
		}
		if sum := total(r.belief); !(abs(sum-1) < 1e-6) {
			t.Fatalf("the belief sums to %v", sum)
		}
		p, err := r.Plan(math.MaxInt64)
		if r.last < math.MaxInt64 && (err != nil || len(p.Set()) == 0) {
			t.Fatalf("%v, set %v", err, p.Set())
		}
	})
}

// Belief advances by the periods that fit since the first report. None is
// counted twice or lost.
func TestTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := sharedModel
		r := newMechanism(model, PIM, policy()).Start()
		start := rapid.Int64Range(-1e15, 1e15).Draw(t, "start")
		at := start
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			p, err := r.Plan(at)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(r.belief)
			if r.begun {
				for range (at-start)/minute - (r.clock-start)/minute {
					next := make([]float64, len(want))
					model.Advance(next, want)
					want = next
				}
			}
			for cell := range want {
				if math.Abs(want[cell]-p.prior[cell]) > 1e-7 {
					t.Fatalf("cell %d: %v, not %v", cell, p.prior[cell], want[cell])
				}
			}
			r.Add(p, model.Grid().Centre(7))
			if r.clock > at || at-r.clock >= minute || (r.clock-start)%minute != 0 {
				t.Fatalf("at %d the belief is about %d", at-start, r.clock-start)
			}
			if _, err := r.Plan(at); err == nil {
				t.Fatal("the same time twice")
			}
			at += rapid.Int64Range(1, 5*minute).Draw(t, "pause")
		}
	})
}

var sharedModel, smallModel *markov.Model

func TestMain(m *testing.M) {
	sharedModel, smallModel = cityModel(&testing.T{}, 6), cityModel(&testing.T{}, 3)
	m.Run()
}

// A step takes as much memory after 10,000 others as after 1,000.
func TestMemoryDoesNotGrow(t *testing.T) {
	m := cityModel(t, 10)
	r := mechanism(t, m, PIM, policy()).Start()
	src := exact.NewSource(nil)
	var inUse [2]uint64
	for k := range int64(10_000) {
		p := plan(t, r, k*minute)
		r.Add(p, p.Draw(src, int(k)%m.Grid().Len()))
		if k == 999 {
			inUse[0] = heapInUse()
		}
	}
	inUse[1] = heapInUse()
	if inUse[1] > inUse[0]+64<<10 {
		t.Errorf("%d bytes after 1,000 steps, %d after 10,000", inUse[0], inUse[1])
	}
	runtime.KeepAlive(r)
}

func heapInUse() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A gap of centuries ends, in a belief that no longer changes.
func TestLongGap(t *testing.T) {
	r := mechanism(t, cityModel(t, 6), PIM, policy()).Start()
	p := plan(t, r, math.MinInt64)
	r.Add(p, r.mechanism.model.Grid().Centre(3))
	p = plan(t, r, math.MaxInt64)
	next := make([]float64, len(p.prior))
	r.mechanism.model.Advance(next, p.prior)
	var change float64
	for cell := range next {
		change += math.Abs(next[cell] - p.prior[cell])
	}
	if change > settled {
		t.Errorf("it still changes by %v", change)
	}
}

// With a public beginning the first set is that cell, and where one can be a period
// later.
func TestStartIn(t *testing.T) {
	m := mechanism(t, cityModel(t, 12), PIM, policy())
	r := m.StartIn(40, 5*minute)
	if _, err := r.Plan(5 * minute); err == nil {
		t.Error("a step at the time of the beginning")
	}
	if p := plan(t, r, 6*minute-1); !slices.Equal(p.Set(), []int{40}) {
		t.Errorf("at once %v", p.Set())
	}
	p := plan(t, r, 6*minute)
	if n := len(p.Set()); n < 2 || n > 12 || !p.Contains(40) {
		t.Errorf("after a period %v", p.Set())
	}
	again, err := m.Resume(r.AppendBinary(nil))
	if err != nil || !slices.Equal(plan(t, again, 6*minute).Set(), p.Set()) {
		t.Errorf("resumed %v", err)
	}
}

func TestOneCell(t *testing.T) {
	p := policy()
	p.Delta = budget.One - 1
	m := mechanism(t, cityModel(t, 6), PIM, p)
	r := m.Start()
	q := plan(t, r, 0)
	if len(q.Set()) != 1 {
		t.Fatalf("set %v", q.Set())
	}
	z := q.Draw(exact.NewSource(nil), 5)
	if z != m.Model().Grid().Centre(q.Set()[0]) {
		t.Errorf("%v is not its cell", z)
	}
	before := slices.Clone(q.prior)
	r.Add(q, z)
	for cell := range before {
		if math.Abs(before[cell]-r.belief[cell]) > 1e-15 {
			t.Fatal("a report that says nothing has changed the belief")
		}
	}
	p.MinSet = 4
	r = mechanism(t, m.Model(), PIM, p).Start()
	if q := plan(t, r, 0); len(q.Set()) != 4 {
		t.Errorf("set %v", q.Set())
	}
}

func TestParsePolicy(t *testing.T) {
	got, err := ParsePolicy([]byte(`{"model":"popular","epsilon":1.5,"delta":0.05,"min_set":3}`))
	if want := (Policy{"popular", 3 * budget.One / 2, budget.One / 20, 3}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ParsePolicy([]byte(`{"model":"m","epsilon":1}`))
	if want := (Policy{"m", budget.One, budget.One / 100, 1}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, about := range map[string]string{
		``:                                        "JSON object",
		`{"epsilon":1}`:                           "model is missing",
		`{"model":"","epsilon":1}`:                "model must be",
		`{"model":"m"}`:                           "epsilon is missing",
		`{"model":"m","epsilon":0.0009}`:          "epsilon must be between 0.001 and 100, not 0.0009",
		`{"model":"m","epsilon":101}`:             "epsilon must be between",
		`{"model":"m","epsilon":"1"}`:             "epsilon must be a number",
		`{"model":"m","epsilon":1,"delta":1}`:     "delta must be at least 0 and below 1",
		`{"model":"m","epsilon":1,"delta":-0.1}`:  "delta must not be below 0",
		`{"model":"m","epsilon":1,"min_set":0}`:   "min_set must be at least 1",
		`{"model":"m","epsilon":1,"min_set":1.5}`: "min_set must be a whole number",
		`{"model":"m","epsilon":1,"alpha":1}`:     `key "alpha" is unknown`,
	} {
		if _, err := ParsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("%s: %v, not %q", text, err, about)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	m := cityModel(t, 6)
	if _, err := New(m, "gauss", policy()); err == nil || !strings.Contains(err.Error(), "law must be one of") {
		t.Error(err)
	}
	if _, err := New(m, PIM, Policy{Epsilon: budget.Max}); err == nil {
		t.Error("accepted")
	}
	d, err := m.Grid().Domain().WithRegion(t.Context(), "POLYGON((115.99 39.99, 116.01 39.99, 116.01 40.01, 115.99 40.01, 115.99 39.99))")
	if err != nil {
		t.Fatal(err)
	}
	grid, err := markov.NewGrid(d, 500)
	if err != nil {
		t.Fatal(err)
	}
	trainer := markov.NewTrainer(grid, time.Minute)
	trainer.Add("a", 0, 40, 116)
	restricted, err := trainer.Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(restricted, PIM, policy()); err == nil || !strings.Contains(err.Error(), "region") {
		t.Error(err)
	}
}
