package vdbe

import "slices"

// reach holds the state before each node of a graph.
type reach struct {
	before  []state
	reached []bool
	size    int // of all registers before nodes
}

// maxSize limits how many registers are followed, over all nodes.
const maxSize = 1 << 22

// propagate follows the registers through all nodes that are reached. Apply makes the changes of a node, and meet, if there is
// one, returns the state that comes to a node.
func (g *graph) propagate(apply func(n int, s *state) error, meet func(n int, s state) state) (reach, error) {
	r := reach{before: make([]state, len(g.at)), reached: make([]bool, len(g.at))}
	r.reached[0] = true
	pending, changed := []int{0}, make([]bool, len(g.at))
	changed[0] = true
	var after state // its registers are in the same place for all nodes
	for len(pending) > 0 {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if !changed[n] { // since it was last here
			continue
		}
		changed[n] = false
		after = state{append(after.registers[:0], r.before[n].registers...), r.before[n].behind}
		if err := apply(n, &after); err != nil {
			return r, err
		}
		for _, m := range g.next[n] {
			before := after
			if meet != nil {
				before = meet(m, after)
			}
			if r.join(m, before) {
				pending, changed[m] = append(pending, m), true
			}
		}
		if r.size > maxSize {
			return r, errTooLong
		}
	}
	return r, nil
}

// join adds a state to the one before a node, and reports whether that changes anything.
func (r *reach) join(n int, s state) (more bool) {
	before := &r.before[n]
	more = !r.reached[n] || s.behind&^before.behind != 0
	r.reached[n] = true
	before.behind |= s.behind
	r.size -= len(before.registers)
	before.registers = slices.Grow(before.registers, max(0, len(s.registers)-len(before.registers)))
	for i, v := range s.registers {
		if before.add(i, v) {
			more = true
		}
	}
	r.size += len(before.registers)
	return more
}
