package trace

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
)

// worstRun has the largest numbers a run can have.
func worstRun() Run {
	var r Run
	r.history.Points = math.MaxInt64
	r.history.Tested = math.MaxInt64 - 1
	r.history.Easy = math.MaxInt64 - 1
	r.history.Spent = 9_000_000_000_000_000_000
	r.last = fix{math.MaxInt64, Cell{maxIndex, -maxIndex}}
	r.paid = fix{0, Cell{-maxIndex, maxIndex}}
	r.recent.n = recentSize
	z := r.paid.z
	for k := recentSize - 1; k >= 0; k-- {
		r.recent.points[k] = fix{int64(k-recentSize+1) * (math.MaxInt64 / recentSize), z}
		z.I, z.J = -z.I, -z.J
	}
	r.rivals.handicap = -maxHandicap
	return r
}

func TestStateOfLargeRuns(t *testing.T) {
	want := worstRun()
	state := must(want.AppendBinary(nil))
	if len(state) > 250 {
		t.Errorf("%d bytes", len(state))
	}
	var got Run
	if err := got.UnmarshalBinary(state); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// The form is fixed: states are stored.
func TestStateGolden(t *testing.T) {
	m := build(t, meter, Predictive, `{"epsilon": 100, "steps": 30, "predictor": "mixture", "skip_speed": 0.001}`)
	var r Run
	if got := hex.EncodeToString(must(r.AppendBinary(nil))); got != "010000" {
		t.Errorf("the empty run is %s", got)
	}
	add(t, m, &r, hard(plan(t, m, &r, 1_700_000_000*second), Cell{I: 300}))
	add(t, m, &r, hard(plan(t, m, &r, 1_700_060_000*second), Cell{I: 310}))
	add(t, m, &r, easy(plan(t, m, &r, 1_700_060_001*second)))
	if got := hex.EncodeToString(must(r.AppendBinary(nil))); got != goldenState {
		t.Errorf("the run is %s", got)
	}
}

// goldenState has 3 points; spent; 1 tested, 0 easy; the last at t, 310, 0; the one
// paid for, 1 second before, in the same cell; 2 recent ones, the older
// 60,000 seconds and -10 cells away; no handicap.
const goldenState = "01" + "03" + "e8ac9cde90f001" + "0100" + "80e9a687c28c8506" + "ec0400" +
	"c0843d" + "0000" + "02" + "80b09dc2df01" + "1300" + "00"

// State that is cut short, lengthened, of another version or not plausible is refused, and
// leaves the run as it was.
func TestStateRefuses(t *testing.T) {
	run := worstRun()
	state := must(run.AppendBinary(nil))
	broken := [][]byte{nil, {2, 0, 0}, {1}, {1, 0}, {1, 0x80, 0, 0}, {1, 0, 0, 0}, append(bytes.Clone(state), 0)}
	for n := range len(state) {
		broken = append(broken, state[:n])
	}
	for _, change := range []func(*Run){
		func(r *Run) { r.history.Tested = r.history.Points },
		func(r *Run) { r.history.Easy = r.history.Tested + 1 },
		func(r *Run) { r.history.Spent = 0 },
		func(r *Run) { r.history.Spent++ },
		func(r *Run) { r.history.Spent = -1 },
		func(r *Run) { r.history.Points = -1 },
		func(r *Run) { r.last.z.I++ },
		func(r *Run) { r.last.z.J-- },
		func(r *Run) { r.paid.t = r.last.t },
		func(r *Run) { r.recent.points[0].t = r.recent.points[1].t },
		func(r *Run) { r.recent.points[3].z.I = math.MinInt64 },
		func(r *Run) { r.rivals.handicap = maxHandicap + 1 },
		func(r *Run) { r.rivals.handicap = math.MinInt8 },
	} {
		implausible := worstRun()
		change(&implausible)
		broken = append(broken, must(implausible.AppendBinary(nil)))
	}
	for _, data := range broken {
		r := run
		if err := r.UnmarshalBinary(data); err == nil || r != run {
			t.Errorf("%x is accepted", data)
		}
	}
}

// FuzzState looks for bytes that are accepted and are not the one form of a run, and
// for accepted runs with a next step beyond the budget or the lattice.
func FuzzState(f *testing.F) {
	worst := worstRun()
	f.Add(must(worst.AppendBinary(nil)))
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{1, 0, 9})
	if golden, err := hex.DecodeString(goldenState); err == nil {
		f.Add(golden)
	}
	mechanisms := []*Mechanism{
		build(f, meter, Predictive, `{"epsilon": 1, "steps": 30, "predictor": "mixture", "skip_speed": 1}`),
		build(f, NewPlane(beijing), Predictive, `{"epsilon": 0.1, "alpha": 300, "predictor": "linear", "after": "predict"}`),
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Run
		if r.UnmarshalBinary(data) != nil {
			return
		}
		if again := must(r.AppendBinary(nil)); !bytes.Equal(again, data) {
			t.Fatalf("%x is also %x", again, data)
		}
		if r.last.t == math.MaxInt64 {
			return
		}
		for _, m := range mechanisms {
			p := plan(t, m, &r, math.MaxInt64)
			if p.Cost() > max(0, m.policy.Epsilon-r.history.Spent) {
				t.Fatalf("%+v", p)
			}
			if !p.Prediction.bounded() {
				t.Fatalf("%+v", p)
			}
		}
	})
}
