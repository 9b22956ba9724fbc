package release

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/release/internal/accounts"
)

// findings are what the first pass has found.
type findings struct {
	digest    digest
	rows      int64
	locations int64
	accounts  *accounts.Counter
	kinds     []infer.Column // of the columns that are read, where they are to be inferred

	invalid int64
	first   error // why the first of the invalid rows is one, and where
	beyond  bool  // some row has a latitude that no place has
}

// check is the first pass: it reads all of the input and refuses what is wrong.
func (r *run) check(ctx context.Context) error {
	s, p := r.spec, r.plan
	counter := accounts.NewCounter(r.sizes.accounts, func() (*os.File, error) { return openNameless(accountsPath(s.Out)) })
	f := &findings{digest: digest{columns: p.fields}, accounts: counter}
	r.found = f
	if r.infers() {
		f.kinds = make([]infer.Column, len(p.fields))
	}
	payer, _ := s.constant()
	workers := make([]func(*batch) error, s.workers())
	for w := range workers {
		c := &checker{newClerk(p), []byte(payer), len(f.kinds)}
		workers[w] = c.check
	}
	err := r.pipeline().run(ctx, workers, func(b *batch) error {
		if err := f.add(p, b); err != nil {
			return err
		}
		s.tell(Progress{Checking, b.share, f.rows})
		return nil
	})
	if err == nil {
		err = f.judge(s)
	}
	if err == nil {
		err = f.accounts.Sort(ctx)
	}
	return err
}

// A checker counts what is in a batch. A worker has one.
type checker struct {
	clerk
	payer []byte // of all locations, where there is no column of accounts
	kinds int    // columns whose kinds are to be inferred
}

func (c *checker) check(b *batch) error {
	b.kinds = append(b.kinds[:0], make([]infer.Column, c.kinds)...)
	b.accounts.Reset()
	b.locations = 0
	c.read(b, func(i int, _ []place, locations int64) {
		b.inferKinds(i)
		b.locations += locations
		if locations > 0 && c.plan.account >= 0 {
			account, _ := b.rows.Columns[c.plan.account].At(i)
			b.accounts.Add(account, locations)
		}
	})
	if b.locations > 0 && c.plan.account < 0 {
		b.accounts.Add(c.payer, b.locations)
	}
	return nil
}

func (b *batch) inferKinds(i int) {
	for c := range b.kinds {
		if text, null := b.rows.Columns[c].At(i); !null {
			b.kinds[c].Add(string(text))
		}
	}
}

// add adds what was found in a batch.
func (f *findings) add(p *plan, b *batch) error {
	f.digest.add(b.hash)
	f.rows = b.last()
	f.locations += b.locations
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
	return f.accounts.Add(&b.accounts)
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
