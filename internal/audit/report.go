package audit

import (
	"slices"

	"github.com/geosql/geosql/internal/audit/bound"
)

// A Report holds the findings of a run. It is printed as JSON.
type Report struct {
	Host       string     `json:"host"`
	Seconds    float64    `json:"seconds"`
	FalseAlarm float64    `json:"false_alarm"` // probability that any claim below is reported violated although it holds
	Tests      int        `json:"tests"`
	Violated   bool       `json:"violated"`
	Functions  []Function `json:"functions"`
}

// A Function holds the findings about a function: the bound of its sharpest attack, and all attacks.
type Function struct {
	Function string   `json:"function"`
	Verdict  Verdict  `json:"verdict"`
	Unit     string   `json:"unit"`
	Charged  float64  `json:"charged"` // epsilon or rho, for one trial of the sharpest attack
	Lower    float64  `json:"lower"`   // lower confidence bound of the right charge
	Draws    int      `json:"draws"`   // trials of all attacks
	Attacks  []Attack `json:"attacks"`
}

// An Attack holds the findings with a pair of inputs.
type Attack struct {
	Pair       string      `json:"pair"`
	Verdict    Verdict     `json:"verdict"`
	Unit       string      `json:"unit"`
	Loss       string      `json:"loss"`     // the bounded loss: epsilon or rho
	Distance   float64     `json:"distance"` // between the inputs, as the claim counts it
	Charged    float64     `json:"charged"`  // for a trial
	Lower      float64     `json:"lower"`    // lower confidence bound of the right charge by the claim
	Event      string      `json:"event"`    // the answers that tell the inputs apart
	Draws      int         `json:"draws"`    // counted, without the draws that the event was learned from
	Violations []Violation `json:"violations,omitempty"`
}

// A Violation is a claim that does not hold.
type Violation struct {
	Function string  `json:"function"`
	Pair     string  `json:"pair"`
	Check    Check   `json:"check"`
	What     string  `json:"what"`
	Limit    float64 `json:"limit,omitempty"` // the loss that was charged for
	Lower    float64 `json:"lower,omitempty"` // the loss is at least this
	Draws    int     `json:"draws,omitempty"`
	Seconds  float64 `json:"seconds"` // since the beginning of the run
}

// A Check names a comparison.
type Check string

const (
	loss       Check = "loss"
	support    Check = "support"
	failures   Check = "errors"
	types      Check = "types"
	charges    Check = "charges"
	refusals   Check = "refusals"
	dryRunning Check = "dry run"
	dependent  Check = "dependence"
)

// A Verdict says whether a claim holds.
type Verdict string

const (
	Holds       Verdict = "holds" // as far as the attacks can tell
	Violated    Verdict = "violated"
	NotMeasured Verdict = "not measured" // the time was over before
)

// report returns the findings of the run.
func (r *runner) report() *Report {
	report := &Report{Host: r.Host.Describe(), Seconds: r.seconds(), FalseAlarm: FalseAlarm, Functions: []Function{}}
	for _, p := range r.probes {
		report.Tests += p.tests()
		i := slices.IndexFunc(report.Functions, func(f Function) bool { return f.Function == p.function })
		if i < 0 {
			i = len(report.Functions)
			report.Functions = append(report.Functions, Function{Function: p.function, Verdict: NotMeasured})
		}
		a := p.report()
		report.Functions[i].add(a)
		report.Violated = report.Violated || a.Verdict == Violated
	}
	return report
}

// add adds the findings with a pair of inputs. The sharpest attack bounds the largest share of the charge.
func (f *Function) add(a Attack) {
	f.Attacks = append(f.Attacks, a)
	f.Draws += a.Draws
	switch {
	case a.Verdict == Violated, f.Verdict == NotMeasured:
		f.Verdict = a.Verdict
	}
	if f.Unit == "" || a.Lower*f.Charged > f.Lower*a.Charged {
		f.Unit, f.Charged, f.Lower = a.Unit, a.Charged, a.Lower
	}
}

// report returns the findings with a pair of inputs.
func (p *probe) report() Attack {
	a := Attack{
		Pair: p.pair, Unit: p.unit, Loss: "epsilon", Distance: p.claim.distance,
		Charged: max(p.charged[0], p.charged[1], p.claim.most), Draws: p.counted, Violations: p.violations, Verdict: NotMeasured,
	}
	if p.claim.kind == bound.Renyi {
		a.Loss = "rho"
	}
	if p.learned {
		a.Event, a.Lower = p.count.name(), p.claim.perDistance(p.shown)
	}
	switch {
	case len(p.violations) > 0:
		a.Verdict = Violated
	case p.look > 0:
		a.Verdict = Holds
	}
	return a
}
