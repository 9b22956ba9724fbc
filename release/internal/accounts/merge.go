package accounts

import (
	"bytes"
	"container/heap"
	"io"
	"iter"
)

// merged returns the accounts of several runs in ascending order, each with all of its
// locations.
func (s *spill) merged(runs []stretch) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		m, err := s.merger(runs)
		if err != nil {
			yield(Account{}, err)
			return
		}
		var a Account
		for len(m) > 0 {
			if err := m.take(&a); err != nil {
				yield(Account{}, err)
				return
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// A merger is a heap of the runs that are not at their end, ordered by their current
// accounts.
type merger []*reader

func (s *spill) merger(runs []stretch) (m merger, err error) {
	for _, x := range runs {
		r := s.read(x)
		switch err := r.next(); err {
		case nil:
			m = append(m, r)
		case io.EOF:
		default:
			return nil, err
		}
	}
	heap.Init(&m)
	return m, nil
}

// take removes the first account from all runs that have it and sets a to it.
func (m *merger) take(a *Account) error {
	a.Name = append(a.Name[:0], (*m)[0].at.Name...)
	a.Locations = 0
	for len(*m) > 0 && bytes.Equal((*m)[0].at.Name, a.Name) {
		a.Locations += (*m)[0].at.Locations
		switch err := (*m)[0].next(); err {
		case nil:
			heap.Fix(m, 0)
		case io.EOF:
			heap.Pop(m)
		default:
			return err
		}
	}
	return nil
}

func (m merger) Len() int           { return len(m) }
func (m merger) Less(i, j int) bool { return bytes.Compare(m[i].at.Name, m[j].at.Name) < 0 }
func (m merger) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(x any)        { *m = append(*m, x.(*reader)) }

func (m *merger) Pop() any {
	last := len(*m) - 1
	r := (*m)[last]
	*m = (*m)[:last]
	return r
}
