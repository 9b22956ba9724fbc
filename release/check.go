package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/release/internal/accounts"
)

// findings holds the findings of the first pass.
type findings struct {
	digest    digest
	batches   []fingerprint // nil if another process has checked them
	rows      int64
	locations int64
	accounts  *accounts.Counter
	payers    int64          // number of accounts
	dropped   int64          // valid rows that are more than their accounts may have
	allowance *allowance     // nil if there are none
	kinds     []infer.Column // of the columns that are read, if they are to be inferred
	surveyors []*surveyor    // one for each pair of columns

	invalid int64
	first   error // place and reason of the first invalid row
	beyond  bool  // some latitude is beyond 90 degrees
}

// check runs the first pass, which reads all of the input.
func (r *run) check(ctx context.Context) error {
	s, p := r.spec, r.plan
	spill := func() (*os.File, error) { return openNameless(accountsPath(s.Out)) }
	if r.spill != nil {
		spill = r.spill
	}
	counter := accounts.NewCounter(r.sizes.accounts, spill)
	f := &findings{digest: digest{columns: p.fields}, accounts: counter}
	r.found = f
	if r.infers() {
		f.kinds = make([]infer.Column, len(p.fields))
	}
	payer, _ := s.constant()
	workers := make([]func(*batch) error, s.workers())
	f.surveyors = r.newSurveyors()
	surveyors := make([][]*surveyor, len(workers))
	for w := range workers {
		surveyors[w] = r.newSurveyors()
		c := &checker{newRowReader(p), []byte(payer), len(f.kinds), surveyors[w]}
		workers[w] = c.check
	}
	err := r.newPipeline().run(ctx, workers, func(b *batch) error {
		if err := f.add(p, b); err != nil {
			return err
		}
		s.report(Progress{Checking, b.share, f.rows})
		return nil
	})
	if err != nil {
		return err
	}
	for _, all := range surveyors {
		for k := range all {
			f.surveyors[k].merge(all[k])
		}
	}
	if err := f.accounts.Sort(ctx); err != nil {
		return err
	}
	f.payers = f.accounts.Len()
	return nil
}

// kept returns the number of rows of the output.
func (f *findings) kept() int64 { return f.rows - f.invalid - f.dropped }

// newSurveyors returns a surveyor for each pair of columns.
func (r *run) newSurveyors() []*surveyor {
	all := make([]*surveyor, len(r.plan.points))
	for k := range all {
		all[k] = newSurveyor(r.mechanism.Domain(), r.spec.Box, r.dry)
	}
	return all
}

// A checker counts the locations in a batch. Each worker has one.
type checker struct {
	rowReader
	payer     []byte      // the account of all locations, if there is no column of accounts
	kinds     int         // number of columns with kinds to be inferred
	surveyors []*surveyor // one for each pair of columns
}

func (c *checker) check(b *batch) error {
	b.dropped = b.dropped[:0]
	b.kinds = append(b.kinds[:0], make([]infer.Column, c.kinds)...)
	b.accounts.Reset()
	b.locations = 0
	b.hash, b.fingerprint = c.digester.sum(&b.rows), c.digester.fingerprint(&b.rows)
	c.read(b, func(i int, all []location, locations int64) {
		b.inferKinds(i)
		for k, at := range all {
			if !at.null {
				c.surveyors[k].add(at.lat, at.lon)
			}
		}
		b.locations += locations
		if locations > 0 && c.plan.account >= 0 {
			account, _ := b.rows.Columns[c.plan.account].At(i)
			b.accounts.Add(account, locations)
		}
	})
	if b.locations > 0 && c.plan.account < 0 {
		b.accounts.Add(c.payer, b.locations)
	}
	for _, x := range b.invalid {
		if _, beyond := errors.AsType[*rangeError](x.why); beyond {
			c.surveyBeyond(b, x.row)
		}
	}
	return nil
}

// surveyBeyond counts the locations of an invalid row that are beyond 90 or 180 degrees.
func (c *checker) surveyBeyond(b *batch, row int) {
	for k, point := range c.plan.points {
		latText, noLat := b.rows.Columns[point.Lat].At(row)
		lonText, noLon := b.rows.Columns[point.Lon].At(row)
		if noLat || noLon {
			continue
		}
		lat, okLat := number(latText)
		lon, okLon := number(lonText)
		if s := c.surveyors[k]; okLat && okLon && (math.Abs(lat) > 90 || math.Abs(lon) > 180) {
			s.addOutside(&s.beyond, lat, lon)
		}
	}
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
	f.batches = append(f.batches, b.fingerprint)
	f.rows += int64(b.rows.Len())
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
	switch n, cause := f.causeBeyond(); {
	case f.invalid == 0:
		return nil
	case cause != "" && (f.locations == 0 || s.Rejects == ""):
		return fmt.Errorf("%s: %w (%d locations are beyond 90 or 180 degrees); %s", s.In, f.first, n, cause)
	case f.beyond && f.locations == 0:
		return fmt.Errorf("%s: every latitude is beyond 90 degrees: are --lat and --lon swapped?", s.In)
	case s.Rejects != "":
		return nil
	case f.invalid > 1:
		return fmt.Errorf("%s: %w (%d rows are invalid; --rejects FILE writes them to a file)", s.In, f.first, f.invalid)
	}
	return fmt.Errorf("%s: %w (--rejects FILE writes such rows to a file)", s.In, f.first)
}

// causeBeyond returns the number of locations beyond 90 or 180 degrees, in invalid rows, and
// the likely cause, or "" if there are few of them or none is apparent.
func (f *findings) causeBeyond() (n int64, cause string) {
	var all tally
	for _, s := range f.surveyors {
		all.merge(&s.beyond)
	}
	if n = all.total(); 2*n >= f.invalid {
		cause = all.cause()
	}
	return n, cause
}

// setKinds sets the kinds of the kept fields to the inferred kinds.
func (f *findings) setKinds(p *plan) {
	for i, o := range p.output {
		if f.kinds != nil && o.kept() {
			p.schema.Fields[i].Kind = f.kinds[o.column].Kind()
		}
	}
}
