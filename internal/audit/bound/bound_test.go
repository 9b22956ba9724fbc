package bound

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

func hinted(m mechanism) mechanism {
	m.name += " with a hint"
	m.hints = []Score{planarHint()}
	return m
}

// An auditor draws, learns and counts. Its faults are planted.
type auditor struct {
	learned, counted int
	coin             float64 // the probability of input 1
	same             bool    // whether it counts the trials that it learned from
	point            bool    // whether it takes the estimate for the bound
}

// audit returns the bounds at each level.
func (a auditor) audit(r *rand.Rand, m mechanism, alpha ...float64) []float64 {
	learning := m.trials(r, a.learned, a.coin)
	counted := learning
	if !a.same {
		counted = m.trials(r, a.counted, a.coin)
	}
	var bounds []float64
	if m.kind == Renyi {
		w := LearnWitness(ByInput(learning), alpha[0], m.hints...)
		t := w.Tally()
		for _, trial := range counted {
			t.Add(trial.Input, trial.Outcome)
		}
		for _, alpha := range alpha {
			b := t.Renyi(alpha)
			if a.point {
				u, v := w.terms()
				b = w.shown(mean(u, shares(t.Of[w.Likelier])), mean(v, shares(t.Of[1-w.Likelier])))
			}
			bounds = append(bounds, b)
		}
		return bounds
	}
	e := Learn(ByInput(learning), alpha[0], m.hints...)
	c := Measure(e, counted)
	for _, alpha := range alpha {
		b := c.Epsilon(e.Likelier, alpha)
		if a.point {
			b = math.Log(float64(c.In[e.Likelier]) / float64(c.In[1-e.Likelier]))
		}
		bounds = append(bounds, b)
	}
	return bounds
}

func shares(counts []int) (p []float64) {
	total := 0
	for _, n := range counts {
		total += n
	}
	for _, n := range counts {
		p = append(p, float64(n)/float64(total))
	}
	return p
}

// parallel calls f with 0 .. n-1 on two processors, each with a stream of its own.
func parallel(n int, seed uint64, f func(k int, r *rand.Rand)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				f(k, rand.New(rand.NewPCG(seed, uint64(k))))
			}
		})
	}
	wait.Wait()
}

// exceptions returns how many of n events of probability p may happen before something is
// wrong: more of them have a probability of at most 1e-7.
func exceptions(n int, p float64) int {
	k := int(p*float64(n)) + 1
	for k < n && logTail(k, n, logit(p)) > math.Log(1e-7) {
		k++
	}
	return k - 1
}

// No simulated audit may show more than there is at a level of 1e-7 for all of them together, and at 1/100 not many more than one
// in a hundred: 13 of 214 for each mechanism. A false alarm has a probability below 1e-6. GEOSQL_AUDITS is how many audits of
// all mechanisms together are simulated. 1,500 of them notice, with a probability above 0.99, a bound that is exceeded in one
// audit of eight, and 200,000 one that is exceeded in one of sixty.
func TestBoundsHoldInEveryAudit(t *testing.T) {
	const often = 0.01
	mechanisms := []mechanism{
		geometricMechanism(3), geometricMechanism(0.5), hinted(planarMechanism(3)), exponentialMechanism(3),
		responseMechanism(1), gaussMechanism(1), equalMechanism(),
	}
	a := auditor{learned: 300, counted: 1000, coin: 0.5}
	over := make([]atomic.Int64, len(mechanisms))
	n := trials.Count(t, "GEOSQL_AUDITS", 1500)
	parallel(n, trials.Seed(t), func(k int, r *rand.Rand) {
		m := mechanisms[k%len(mechanisms)]
		bounds := a.audit(r, m, 1e-7/float64(n), often)
		if bounds[0] > m.loss {
			t.Errorf("%s: audit %d shows %v of %v", m.name, k, bounds[0], m.loss)
		}
		if bounds[1] > m.loss {
			over[k%len(mechanisms)].Add(1)
		}
	})
	for i, m := range mechanisms {
		each := n / len(mechanisms)
		if got := int(over[i].Load()); got > exceptions(each+1, often) {
			t.Errorf("%s: %d of %d audits show more than there is, at a level of %v", m.name, got, each, often)
		}
	}
}

func TestBoundsAreSharp(t *testing.T) {
	type sharp struct {
		mechanism
		share float64
	}
	for _, c := range trials.Some(t, 3, []sharp{
		{geometricMechanism(Sharpest), 0.9},
		{hinted(planarMechanism(Sharpest)), 0.9},
		{planarMechanism(Sharpest), 0.88},
		{exponentialMechanism(3.2), 0.9}, // its loss is Sharpest
		{responseMechanism(Sharpest), 0.9},
		{gaussMechanism(1.125), 0.85},
	}...) {
		least, most := math.Inf(1), 0.0
		var mutex sync.Mutex
		parallel(2, 4, func(k int, r *rand.Rand) {
			a := auditor{learned: Learned, counted: Counted, coin: 0.5}
			b := a.audit(r, c.mechanism, 1e-9)[0] / c.loss
			mutex.Lock()
			defer mutex.Unlock()
			least, most = min(least, b), max(most, b)
		})
		t.Logf("%s: %.3f to %.3f of %.3f", c.name, least, most, c.loss)
		if least < c.share || most > 1 {
			t.Errorf("%s: audits show from %v to %v of %v", c.name, least, most, c.loss)
		}
	}
}

// Auditors that do something wrong show more than there is, and the honest one does not.
func TestPlantedAuditorsAreNoticed(t *testing.T) {
	const n, often = 120, 0.01
	honest := auditor{learned: 300, counted: 1000, coin: 0.5}
	point, same, unfair := honest, honest, honest
	point.point = true
	same.learned, same.same = 1000, true
	unfair.coin = 0.6
	type planted struct {
		name string // the fault of the auditor
		auditor
		mechanism
		noticed bool
	}
	for _, c := range trials.Some(t, 4, []planted{
		{"is honest", honest, responseMechanism(1), false},
		{"is honest", honest, equalMechanism(), false},
		{"forgets its confidence", point, responseMechanism(1), true},
		// A witness that was learned from few draws is far from the likelihood ratio, and shows less.
		{"is honest", auditor{learned: 2500, counted: 1000, coin: 0.5}, gaussMechanism(0.5), false},
		{"forgets its confidence", auditor{learned: 2500, counted: 1000, coin: 0.5, point: true}, gaussMechanism(0.5), true},
		{"counts what it learned from", same, equalMechanism(), true},
		{"has an unfair coin", unfair, responseMechanism(1), true},
	}...) {
		var over atomic.Int64
		parallel(n, n, func(_ int, r *rand.Rand) {
			if c.audit(r, c.mechanism, often)[0] > c.loss {
				over.Add(1)
			}
		})
		t.Logf("%s, of the mechanism %s: %d of %d", c.name, c.mechanism.name, over.Load(), n)
		if got := int(over.Load()) > exceptions(n, often); got != c.noticed {
			t.Errorf("%s, of the mechanism %s: %d of %d audits show more than there is", c.name, c.mechanism.name, over.Load(), n)
		}
	}
}
