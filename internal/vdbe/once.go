package vdbe

import "slices"

// Calls reports whether the program calls one of the functions, named in lower case.
func (p Program) Calls(functions ...string) bool {
	return p.has(func(op *Op) bool {
		name, _ := op.function()
		return op.calls() && slices.Contains(functions, name)
	})
}

// calls reports whether the instruction calls a function.
func (op *Op) calls() bool {
	e := op.code().effect
	return callsFunction <= e && e <= endsGroup
}

// EndsOneGroup reports whether it is proved that a run of the program ends one group of an
// aggregate among some functions at the most, that it calls them in no other way, and that it calls no function
// behind the group.
func (p Program) EndsOneGroup(among func(name string) bool) bool {
	steps := 0
	for i := range p {
		op := &p[i]
		code := op.code()
		switch name, _ := op.function(); {
		case code.cursor == opensVirtual, code.effect == firesTrigger:
			return false // it may call any function
		case code.effect == endsGroup || !op.calls() || !among(name):
		case code.effect == stepsGroup:
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
	var ends, calls []int
	for n := range g.at {
		op := g.op(n)
		switch name, _ := op.function(); {
		case op.code().effect == callsFunction:
			calls = append(calls, n)
		case op.code().effect == endsGroup && among(name):
			ends, calls = append(ends, n), append(calls, n)
		}
	}
	return !g.reaches(ends, calls, none)
}
