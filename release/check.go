package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/geosql/geosql/release/table/infer"
)

// findings are what the first pass has found.
type findings struct {
	digest    digest
	rows      int64
	locations int64
	accounts  census
	kinds     []infer.Column // of the columns that are read, where they are to be inferred

	invalid int64
	first   error // why the first of the invalid rows is one, and where
	beyond  bool  // some row has a latitude that no place has
}

// check is the first pass: it reads all of the input and refuses what is wrong.
func (r *run) check(ctx context.Context) error {
	s, p := r.spec, r.plan
	f := &findings{accounts: census{most: r.sizes.told}}
	r.found = f
	if r.infers() {
		f.kinds = make([]infer.Column, len(p.fields))
	}
	workers := make([]func(*batch) error, s.workers())
	for w := range workers {
		clerk := newClerk(s, p)
		workers[w] = func(b *batch) error {
			b.kinds = append(b.kinds[:0], make([]infer.Column, len(f.kinds))...)
			clerk.read(b, func(i int, _ []place) { b.inferKinds(i) })
			return nil
		}
	}
	err := r.pipeline().run(ctx, workers, func(b *batch) error {
		f.add(p, b)
		s.tell(Progress{Checking, b.share, f.rows})
		return nil
	})
	if err != nil {
		return err
	}
	return f.judge(s)
}

func (b *batch) inferKinds(i int) {
	for c := range b.kinds {
		if text, null := b.rows.Columns[c].At(i); !null {
			b.kinds[c].Add(string(text))
		}
	}
}

// add adds what was found in a batch.
func (f *findings) add(p *plan, b *batch) {
	f.digest.add(b.hash)
	f.rows = b.last()
	f.locations += b.locations
	f.accounts.merge(&b.accounts)
	for c := range f.kinds {
		f.kinds[c].Merge(b.kinds[c])
	}
	for _, x := range b.invalid {
		if f.first == nil {
			f.first = fmt.Errorf("%s, %w", b.rows.Where(x.row), x.why)
		}
		var beyond *beyondError
		f.beyond = f.beyond || errors.As(x.why, &beyond) && beyond.limit == 90
	}
	f.invalid += int64(len(b.invalid))
}

// judge refuses an input with rows that are invalid, unless they may be set aside.
func (f *findings) judge(s *Spec) error {
	switch {
	case f.invalid == 0:
		return nil
	case f.beyond && f.locations == 0:
		return fmt.Errorf("%s: every latitude is beyond 90 degrees: are --lat and --lon swapped?", s.In)
	case s.Rejects != "":
		return nil
	case f.invalid > 1:
		return fmt.Errorf("%s: %w (%d rows are invalid; --rejects FILE sets them aside)", s.In, f.first, f.invalid)
	}
	return fmt.Errorf("%s: %w (--rejects FILE sets such rows aside)", s.In, f.first)
}

// setKinds gives the fields that are kept the kinds that were inferred.
func (f *findings) setKinds(p *plan) {
	for i, o := range p.output {
		if f.kinds != nil && o.kept() {
			p.schema.Fields[i].Kind = f.kinds[o.column].Kind()
		}
	}
}
