package trace_test

import (
	"fmt"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// Somebody walks through Beijing and asks for places nearby, once a minute. The
// whole walk is protected with ln 10 over 100 m.
func Example() {
	domain, err := planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := trace.ParsePolicy(trace.Predictive, []byte(`{"epsilon": 0.023, "alpha": 3000}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plane := trace.NewPlane(domain)
	m, err := trace.New(plane, policy)
	if err != nil {
		fmt.Println(err)
		return
	}

	source := exact.NewSource(nil)
	var run trace.Run
	for minute := range int64(60) {
		plan, err := m.Plan(&run, minute*60_000_000)
		if err != nil {
			fmt.Println(err)
			return
		}
		if plan.Action == trace.Stop {
			break
		}
		// Here plan.Cost() is charged.
		x := plane.Cell(39.9087+float64(minute)*0.0005, 116.3975)
		point := m.Draw(source, plan, x)
		// Here plan.Cost()-point.Spent is given back.
		if err := m.Add(&run, point); err != nil {
			fmt.Println(err)
			return
		}
		lat, lon := plane.Location(point.Z)
		_, _ = lat, lon // random
	}
	fmt.Println(run.History().Points >= 12, run.History().Spent <= policy.Epsilon)
	// Output: true true
}

func ExampleParsePolicy() {
	_, err := trace.ParsePolicy(trace.Predictive, []byte(`{"epsilon": 0.023}`))
	fmt.Println(err)
	_, err = trace.ParsePolicy(trace.Predictive, []byte(`{"epsilon": 0.023, "alpha": 3000, "speed": 8}`))
	fmt.Println(err)
	// Output:
	// steps is missing, or alpha for a fixed utility
	// key "speed" is unknown: there are domain, universe, epsilon, manager, alpha, steps, eta, gamma, prediction_rate, skip_speed, predictor, after
}
