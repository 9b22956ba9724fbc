// Command draw is the module draw.wasm of package geosql-device: declarations, budgets and exact draws for JavaScript.
package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"syscall/js"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql-device/internal/bridge"
	"github.com/geosql/geosql/cmd/geosql-device/internal/draws"
)

var module = draws.New(entropy{})

func main() {
	functions := map[string]any{}
	for name, f := range map[string]func([]js.Value) (any, error){
		"domain":     domain,
		"mechanism":  mechanism,
		"radius":     radius,
		"confidence": confidence,
		"retrieval":  retrieval,
		"prior":      prior,
		"remap":      remap,
		"smooth":     smooth,
		"universe":   universe,
		"value":      value,
		"within":     within,
		"limit":      limit,
		"charge":     charge,
		"balance":    balance,
		"trace":      trace,
		"begin":      begin,
		"end":        end,
		"run":        run,
		"drop":       drop,
	} {
		functions[name] = bridge.Function(f)
	}
	bridge.Serve(functions)
}

func handle(v js.Value) uint32 { return uint32(v.Int()) }

// domain takes a name, the box, the step and a region.
func domain(a []js.Value) (any, error) {
	h, d, err := module.Domain(a[0].String(), a[1].Float(), a[2].Float(), a[3].Float(), a[4].Float(), a[5].Float(), a[6].String())
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": h, "kappa": d.Kappa(), "text": d.String()}, nil
}

func priced(p draws.Priced, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": p.Handle, "unit": string(p.Unit), "epsilon": p.Amount.Float64(), "quanta": fmt.Sprint(int64(p.Amount))}, nil
}

// mechanism takes a domain, a name and epsilon.
func mechanism(a []js.Value) (any, error) {
	return priced(module.Mechanism(handle(a[0]), a[1].String(), a[2].Float()))
}

// radius takes a mechanism and a probability.
func radius(a []js.Value) (any, error) {
	accuracy, err := module.Accuracy(handle(a[0]))
	if err != nil {
		return nil, err
	}
	return accuracy.Radius(a[1].Float())
}

// confidence takes a mechanism and metres.
func confidence(a []js.Value) (any, error) {
	accuracy, err := module.Accuracy(handle(a[0]))
	if err != nil {
		return nil, err
	}
	return accuracy.Confidence(a[1].Float()), nil
}

// retrieval takes a mechanism, a probability and a radius of interest.
func retrieval(a []js.Value) (any, error) {
	accuracy, err := module.Accuracy(handle(a[0]))
	if err != nil {
		return nil, err
	}
	return accuracy.RetrievalRadius(a[1].Float(), a[2].Float())
}

// prior takes a domain and places.
func prior(a []js.Value) (any, error) { return module.Prior(handle(a[0]), bridge.Numbers(a[1])) }

// remap takes a prior, epsilon, a latitude and a longitude.
func remap(a []js.Value) (any, error) {
	return array(module.Remap(handle(a[0]), a[1].Float(), a[2].Float(), a[3].Float()))
}

// smooth takes a domain and points.
func smooth(a []js.Value) (any, error) {
	return array(module.Smooth(handle(a[0]), bridge.Numbers(a[1])))
}

func array(numbers []float64, err error) (any, error) {
	values := make([]any, len(numbers))
	for i, x := range numbers {
		values[i] = x
	}
	return values, err
}

// universe takes a name, the range, the step and a unit.
func universe(a []js.Value) (any, error) {
	h, u, err := module.Universe(a[0].String(), a[1].Float(), a[2].Float(), a[3].Float(), budget.Unit(a[4].String()))
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": h, "text": u.String()}, nil
}

// value takes a universe and epsilon.
func value(a []js.Value) (any, error) { return priced(module.Value(handle(a[0]), a[1].Float())) }

// within takes a mechanism and a probability.
func within(a []js.Value) (any, error) { return module.Within(handle(a[0]), a[1].Float()) }

// account reads the first three arguments of the functions of an account: a document, a name and a time in microseconds.
func account(a []js.Value) draws.Account {
	return draws.Account{Document: a[0].String(), Name: a[1].String(), Now: int64(a[2].Float())}
}

// limit takes an account, a unit, epsilon and a window.
func limit(a []js.Value) (any, error) {
	return account(a).Limit(budget.Unit(a[3].String()), a[4].Float(), int64(a[5].Float()))
}

// charge takes an account, a unit and a whole number of 1e-12 in digits.
func charge(a []js.Value) (any, error) {
	cost, err := strconv.ParseInt(a[4].String(), 10, 64)
	if err != nil {
		return nil, err
	}
	return account(a).Charge(budget.Unit(a[3].String()), budget.Amount(cost))
}

// balance takes an account and a unit.
func balance(a []js.Value) (any, error) {
	b, err := account(a).Balance(budget.Unit(a[3].String()))
	if err != nil {
		return nil, err
	}
	state := map[string]any{"spent": b.Spent.Float64(), "remaining": b.Remaining().Float64()}
	if b.Limited {
		state["limit"] = b.Limit.Float64()
	}
	if !b.Reopens.IsZero() {
		state["reopens"] = b.Reopens.Format(time.RFC3339)
	}
	return state, nil
}

// trace takes whether the space is a universe, the space, the mechanism's name, and the settings as keys and values in turn.
func trace(a []js.Value) (any, error) {
	settings := map[string]any{}
	for i := 0; i < a[3].Length(); i += 2 {
		settings[a[3].Index(i).String()] = setting(a[3].Index(i + 1))
	}
	if a[0].Bool() {
		return priced(module.UniverseTrace(handle(a[1]), a[2].String(), settings))
	}
	return priced(module.DomainTrace(handle(a[1]), a[2].String(), settings))
}

func setting(v js.Value) any {
	switch v.Type() {
	case js.TypeNumber:
		return v.Float()
	case js.TypeString:
		return v.String()
	}
	return v.Type()
}

// begin takes an account, a trace's mechanism and name, the state of a run in base64, and the step's time in microseconds.
func begin(a []js.Value) (any, error) {
	state, err := base64.StdEncoding.DecodeString(a[5].String())
	if err != nil {
		return nil, err
	}
	h, document, err := module.Begin(account(a), handle(a[3]), a[4].String(), state, int64(a[6].Float()))
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": h, "document": document}, nil
}

// end takes an account and a step.
func end(a []js.Value) (any, error) { return module.End(account(a), handle(a[3])) }

// run takes an account and the name of a trace, and returns a run in base64, or nothing.
func run(a []js.Value) (any, error) {
	state, err := account(a).Run(a[3].String())
	if state == nil {
		return js.Undefined(), err
	}
	return base64.StdEncoding.EncodeToString(state), err
}

// drop takes a mechanism.
func drop(a []js.Value) (any, error) {
	module.Drop(handle(a[0]))
	return nil, nil
}
