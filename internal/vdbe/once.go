package vdbe

import "slices"

// Calls reports whether the program calls one of the functions, whose names are in lower case.
func (p Program) Calls(functions ...string) bool {
	return p.has(func(op *Op) bool {
		name, _ := op.function()
		return op.calls() && slices.Contains(functions, name)
	})
}

// calls reports whether the instruction calls a function.
func (op *Op) calls() bool {
	switch op.Name {
	case "AggFinal", "AggInverse", "AggStep", "AggValue", "Function", "PureFunc":
		return true
	}
	return false
}

// EndsOneGroup reports whether it is proved that a run of the program ends one group of an
// aggregate among some functions at the most, and that it calls them in no other way.
func (p Program) EndsOneGroup(among func(name string) bool) bool {
	steps := 0
	for i := range p {
		op := &p[i]
		switch name, _ := op.function(); {
		case op.Name == "VOpen", op.Name == "Program":
			return false // it may call any function
		case op.Name == "AggFinal" || !op.calls() || !among(name):
		case op.Name == "AggStep":
			steps++
		default:
			return false
		}
	}
	if steps != 1 {
		return false
	}
	g, err := newGraph(p)
	if err != nil {
		return false
	}
	var ends []int
	for n := range g.at {
		op := g.op(n)
		if name, _ := op.function(); op.Name == "AggFinal" && among(name) {
			ends = append(ends, n)
		}
	}
	return !g.reaches(ends, ends, none)
}
