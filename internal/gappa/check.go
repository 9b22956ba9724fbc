package gappa

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/proved"
	"github.com/geosql/geosql/internal/workers"
)

var (
	folder  = flag.String("gappa.write", "", "write the scripts to a folder, and prove nothing")
	measure = flag.Bool("gappa.needs", false, "find the Needs of every script by bisection, instead of checking it")
)

// A Proof is a script with its known margin.
type Proof struct {
	Script

	// Needs is the part of the claimed bound that the proof needs, rounded up to two digits:
	// the claim holds with this factor, and Gappa no longer proves it with a tenth less. 1
	// says only that the claim is proved.
	Needs float64

	// Planted are bugs of the source with which the proof must fail.
	Planted []Edit
}

// An Edit replaces a text that occurs once in a file.
type Edit struct{ File, Old, New string }

// Check proves the claims about the package in a directory if their scripts are not those of testdata/proved.txt; it skips the
// test where Gappa is not installed. A script changes with the source that it is made from, and with a planted bug. With
// GEOSQL_GAPPA in the environment Check proves all claims, that planted bugs cannot be proved, and that Needs is up to date.
func Check(t *testing.T, dir string, proofs []Proof) {
	need.Program(t, "go")
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := proved.Read(t, dir, os.Getenv("GEOSQL_GAPPA") != "")
	for _, p := range proofs {
		t.Run(p.Name, func(t *testing.T) {
			if *folder != "" {
				if err := p.write(source); err != nil {
					t.Fatal(err)
				}
				return
			}
			if *measure {
				need.Program(t, "gappa")
				needs, ways, err := p.needs(source)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("needs %.4g of its bound, %d ways to fuse", needs, ways)
				return
			}
			texts, err := p.Texts(source, Number(p.Needs))
			if err != nil {
				t.Fatal(err)
			}
			list.Check(t, p.Name, texts, func() error {
				need.Program(t, "gappa")
				return proveAll(texts)
			})
			if list.All() && p.Needs < 1 && p.prove(source, 0.9*p.Needs) == nil {
				t.Errorf("nine tenths of %v of the bound can be proved: Needs is out of date", p.Needs)
			}
			for _, e := range p.Planted {
				edited, err := source.Edit(e.File, e.Old, e.New)
				if err != nil {
					t.Fatal(err)
				}
				if texts, err := p.Texts(edited, Number(p.Needs)); err == nil && list.Has(p.Name, texts...) {
					t.Errorf("%q in place of %q changes no script", e.New, e.Old)
				}
				if list.All() && p.prove(edited, 1) == nil {
					t.Errorf("proved with %q in place of %q", e.New, e.Old)
				}
			}
		})
	}
}

// write writes the script of every way to fuse operations.
func (p *Proof) write(s *Source) error {
	texts, err := p.Texts(s, "1")
	if err != nil {
		return err
	}
	for i, text := range texts {
		name := fmt.Sprintf("%s %d.g", p.Name, i+1)
		if err := os.WriteFile(filepath.Join(*folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// prove returns an error unless Gappa proves a part of the claimed bound for every way to
// fuse operations.
func (p *Proof) prove(s *Source, factor float64) error {
	texts, err := p.Texts(s, Number(factor))
	if err != nil {
		return err
	}
	return proveAll(texts)
}

func proveAll(texts []string) error {
	return workers.Each(context.Background(), min(runtime.GOMAXPROCS(0), len(texts)), len(texts), func(_, k int) error {
		if err := Prove(texts[k]); err != nil {
			return fmt.Errorf("way %d of %d: %w", k+1, len(texts), err)
		}
		return nil
	}, func() {})
}

// needs returns the least factor with which the claim is proved, to a hundredth of it.
func (p *Proof) needs(s *Source) (needs float64, ways int, err error) {
	texts, err := p.Texts(s, "1")
	if err != nil {
		return 0, 0, err
	}
	if err := proveAll(texts); err != nil {
		return 0, len(texts), err
	}
	proved := func(way int, factor float64) bool {
		all, err := p.Texts(s, Number(factor))
		return err == nil && Prove(all[way]) == nil
	}
	low, high := 0.001, 0.001
	for way := range texts {
		if proved(way, high) {
			continue
		}
		for low, high = high, 1; high > 1.01*low; {
			if middle := math.Sqrt(low * high); proved(way, middle) {
				high = middle
			} else {
				low = middle
			}
		}
	}
	return high, len(texts), nil
}
