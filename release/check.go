package release

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/release/internal/accounts"
)

// findings holds what the first pass has found.
type findings struct {
	digest    digest
	rows      int64
	locations int64
	accounts  *accounts.Counter
	kinds     []infer.Column // of the columns that are read, if they are to be inferred

	invalid int64
	first   error // place and reason of the first invalid row
	beyond  bool  // some latitude is beyond 90 degrees
}

// check runs the first pass: it reads all of the input and refuses invalid data.
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
		c := &checker{newRowReader(p), []byte(payer), len(f.kinds)}
		workers[w] = c.check
	}
	err := r.newPipeline().run(ctx, workers, func(b *batch) error {
		if err := f.add(p, b); err != nil {
			return err
		}
		s.report(Progress{Checking, b.share, f.rows})
		return nil
	})
	if err == nil {
		err = f.checkInvalid(s)
	}
	if err == nil {
		err = f.accounts.Sort(ctx)
	}
	return err
}

// A checker counts the locations in a batch. Each worker has one.
type checker struct {
	rowReader
	payer []byte // the account of all locations, if there is no column of accounts
	kinds int    // number of columns whose kinds are to be inferred
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

// add adds the findings of a batch.
func (f *findings) add(p *plan, b *batch) error {
	f.digest.add(b.hash)
	f.rows = b.end()
	f.locations += b.locations
	for c := range f.kinds {
		f.kinds[c].Merge(b.kinds[c])
	}
	for _, x := range b.invalid {
		if f.first == nil {
			f.first = fmt.Errorf("%s, %w", b.rows.Where(x.row), x.why)
		}
		var beyond *rangeError
		f.beyond = f.beyond || errors.As(x.why, &beyond) && beyond.limit == 90
	}
	f.invalid += int64(len(b.invalid))
	return f.accounts.Add(&b.accounts)
}

// checkInvalid refuses an input with invalid rows, unless they may be set aside.
func (f *findings) checkInvalid(s *Spec) error {
	switch {
	case f.invalid == 0:
		return nil
	case f.beyond && f.locations == 0:
		return fmt.Errorf("%s: every latitude is beyond 90 degrees: are --lat and --lon swapped?", s.In)
	case s.Rejects != "":
		return nil
	case f.invalid > 1:
		return fmt.Errorf("%s: %w (%d rows are invalid; --rejects FILE writes them to a file)", s.In, f.first, f.invalid)
	}
	return fmt.Errorf("%s: %w (--rejects FILE writes such rows to a file)", s.In, f.first)
}

// setKinds sets the kinds of the kept fields to the inferred kinds.
func (f *findings) setKinds(p *plan) {
	for i, o := range p.output {
		if f.kinds != nil && o.kept() {
			p.schema.Fields[i].Kind = f.kinds[o.column].Kind()
		}
	}
}
