package release

import (
	"bytes"
	"container/heap"
	"io"
	"iter"
)

// merged are the accounts of several runs in ascending order, each with all of its
// locations.
func (s *spill) merged(runs []stretch) iter.Seq2[account, error] {
	return func(yield func(account, error) bool) {
		m, err := s.merger(runs)
		if err != nil {
			yield(account{}, err)
			return
		}
		var a account
		for len(m) > 0 {
			if err := m.take(&a); err != nil {
				yield(account{}, err)
				return
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// A merger is a heap of the runs that are not at their end, by the account that each is at.
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

// take takes the first account from all runs that are at it.
func (m *merger) take(a *account) error {
	a.name = append(a.name[:0], (*m)[0].at.name...)
	a.locations = 0
	for len(*m) > 0 && bytes.Equal((*m)[0].at.name, a.name) {
		a.locations += (*m)[0].at.locations
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
func (m merger) Less(i, j int) bool { return bytes.Compare(m[i].at.name, m[j].at.name) < 0 }
func (m merger) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(x any)        { *m = append(*m, x.(*reader)) }

func (m *merger) Pop() any {
	last := len(*m) - 1
	r := (*m)[last]
	*m = (*m)[:last]
	return r
}
