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

// CallsOnce reports whether it is proved that a run of the program makes one call at the most of functions among some, where the call of an
// aggregate is the end of its group, and none behind it of other functions.
func (p Program) CallsOnce(among, other func(name string) bool) bool {
	if p.has(func(op *Op) bool {
		return op.code().cursor == opensVirtual || op.code().effect == firesTrigger // which may call any function
	}) {
		return false
	}
	g, err := newGraph(p)
	if err != nil {
		return false
	}
	var calls, behind []int
	for n := range g.at {
		op := g.op(n)
		name, _ := op.function()
		switch effect := op.code().effect; {
		case effect == stepsGroup, !op.calls():
		case among(name):
			calls, behind = append(calls, n), append(behind, n)
		case effect == callsFunction && other(name):
			behind = append(behind, n)
		}
	}
	return !g.reaches(calls, behind, none)
}
