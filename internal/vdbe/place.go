package vdbe

import (
	"strconv"

	"github.com/geosql/geosql/internal/sqltext"
)

// A Place is an instruction that steps an aggregate.
type Place struct {
	Function  string
	Arguments []string // in SQL; empty for an argument that is not known to be a constant
}

// Places returns the places of the functions among some, if the program calls these as aggregates only, and if each answer is in a row
// that is returned before anything may fail: another step of theirs, or a call of a function that is not sure to succeed. It reports
// false for any other program, such as one that writes, or calls a function that is neither among these nor pure.
func (p Program) Places(among, pure, sure func(name string) bool) (places []Place, ok bool) {
	if p.Writes() || p.has(func(op *Op) bool { return op.code().cursor == opensVirtual || op.code().effect == firesTrigger }) {
		return nil, false
	}
	g, err := newGraph(p)
	if err != nil {
		return nil, false
	}
	var ends, risks []int
	for n := range g.at {
		op := g.op(n)
		name, _ := op.function()
		switch effect := op.code().effect; {
		case !op.calls():
		case among(name) && effect == stepsGroup:
			risks = append(risks, n)
		case among(name) && effect == endsGroup:
			ends = append(ends, n)
		case among(name) || !pure(name):
			return nil, false
		case effect == callsFunction && !sure(name):
			risks = append(risks, n)
		}
	}
	if g.reaches(ends, risks, func(n int) bool { return g.op(n).code().effect == returnsRow }) {
		return nil, false
	}
	written := newDefinitions(p)
	for i := range p {
		if name, _ := p[i].function(); p[i].code().effect == stepsGroup && among(name) {
			place := Place{Function: name}
			for k := range p.arguments(i) {
				place.Arguments = append(place.Arguments, p.literal(written.writer(i, p[i].P2+k)))
			}
			places = append(places, place)
		}
	}
	return places, true
}

// mostDigits is how many digits of a number EXPLAIN shows at least. A number with as many may have more.
const mostDigits = 15

// literal returns the constant that an instruction writes, empty if it is none.
func (p Program) literal(at int) string {
	if at < 0 {
		return ""
	}
	op := &p[at]
	switch op.code().literal {
	case numberInP1:
		return strconv.Itoa(op.P1)
	case numberInP4:
		if digits(op.P4) < mostDigits {
			return op.P4
		}
	case textInP4:
		return sqltext.Quote(op.P4)
	}
	return ""
}

// digits returns how many digits a number has.
func digits(number string) (n int) {
	for _, c := range number {
		if '0' <= c && c <= '9' {
			n++
		}
	}
	return n
}
