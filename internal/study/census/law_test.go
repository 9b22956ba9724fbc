package census

import (
	"fmt"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/studytest"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// coarse is the step, in metres, of the lattices that are enumerated.
const coarse = 400

// enumerate returns the probabilities of the buckets for one commute, as a sum over the
// lattice around the home. The lattice beyond reach has a probability below 1e-15.
func enumerate(d *planar.Domain, s Setting, home, work Place) (p [len(Buckets)]float64) {
	rate := s.Epsilon() * d.Step() / (1 + d.Kappa())
	reach := int64(45/rate) + 1
	x := d.Cell(home.Lat, home.Lon)
	all := 0.0
	for i := -reach; i <= reach; i++ {
		for j := -reach; j <= reach; j++ {
			weight := math.Exp(-rate * math.Hypot(float64(i), float64(j)))
			lat, lon := d.Location(planar.Cell{I: x.I + i, J: x.J + j})
			var h histogram
			h.add(planar.Distance(lat, lon, work.Lat, work.Lon), 1)
			for k, in := range h {
				p[k] += float64(in) * weight
			}
			all += weight
		}
	}
	for k := range p {
		p[k] /= all
	}
	return p
}

// A lawCase is a commute and the law of its bucket.
type lawCase struct {
	setting    Setting
	home, work Place
	p          [len(Buckets)]float64
}

func lawCases(d *planar.Domain) (cases []lawCase) {
	for _, s := range []Setting{{math.Ln2, 1.22}, {2.15, 3.86}} {
		for _, miles := range []float64{0, 8, 24, 49} {
			home, work := downtown, downtown.north(miles)
			cases = append(cases, lawCase{s, home, work, enumerate(d, s, home, work)})
		}
	}
	return cases
}

// trials is how many jobs each commute of a test of the law has.
const trials = 200_000

// law releases the commutes of cases and says for which the counts cannot be believed.
// There are 32 counts; each is doubted wrongly with a probability of at most 2e-11: a false alarm of all has one below
// 1e-9.
func law(t *testing.T, d *planar.Domain, cases []lawCase, m func(*planar.Domain, float64) studytest.Drawer) (doubts []string) {
	t.Helper()
	for _, c := range cases {
		study := newStudy(t, d, []Setting{c.setting}, Commute{c.home, c.work, trials})
		if m != nil {
			study.releasing(m)
		}
		for k, r := range rowsOf(t, study) {
			if !believable(r.Released, trials, c.p[k], 1e-12) {
				doubts = append(doubts, fmt.Sprintf("%+v: share %.5f, not %.5f", r, float64(r.Released)/trials, c.p[k]))
			}
		}
	}
	return doubts
}

func TestLaw(t *testing.T) {
	d := newDomain(t, coarse)
	for _, doubt := range law(t, d, lawCases(d), nil) {
		t.Error(doubt)
	}
}

// Mechanisms that are wrong are found out.
func TestWrongMechanisms(t *testing.T) {
	d := newDomain(t, coarse)
	cases := lawCases(d)
	mechanism := func(d *planar.Domain, epsilon float64) noise.Drawer {
		l, err := noise.Laplace(d, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	scaled := func(factor float64) func(*planar.Domain, float64) studytest.Drawer {
		return func(d *planar.Domain, epsilon float64) studytest.Drawer { return mechanism(d, factor*epsilon).Draw }
	}
	for name, m := range map[string]func(*planar.Domain, float64) studytest.Drawer{
		"less epsilon":           scaled(0.95),
		"more epsilon":           scaled(1.05),
		"kilometres for miles":   scaled(1.609344),
		"log 10 for ln":          scaled(1 / math.Ln10),
		"nautical for statute":   scaled(1609.344 / 1852),
		"the home itself":        always(func(home Place) Place { return home }),
		"the same for all homes": always(func(Place) Place { return downtown }),
		"one point for all jobs of a commute": func(d *planar.Domain, epsilon float64) studytest.Drawer {
			l, drawn := mechanism(d, epsilon), Place{}
			return func(src *exact.Source, lat, lon float64) (float64, float64) {
				if drawn == (Place{}) {
					drawn.Lat, drawn.Lon = l.Draw(src, lat, lon)
				}
				return drawn.Lat, drawn.Lon
			}
		},
		// A reader of the polar form who forgets the factor r of the density.
		"exponential length": func(d *planar.Domain, epsilon float64) studytest.Drawer {
			l := mechanism(d, epsilon)
			return func(src *exact.Source, lat, lon float64) (float64, float64) {
				zlat, zlon := l.Draw(src, lat, lon)
				share := float64(src.Uint32()) / (1 << 32) // of two exponential lengths, one
				return lat + (zlat-lat)*share, lon + (zlon-lon)*share
			}
		},
		// Noise that is drawn again beyond 12 miles, the 0.99 quantile.
		"no tail": func(d *planar.Domain, epsilon float64) studytest.Drawer {
			l := mechanism(d, epsilon)
			return func(src *exact.Source, lat, lon float64) (float64, float64) {
				for {
					zlat, zlon := l.Draw(src, lat, lon)
					if planar.Distance(lat, lon, zlat, zlon) < 12*MetresPerMile {
						return zlat, zlon
					}
				}
			}
		},
	} {
		if len(law(t, d, cases, m)) == 0 {
			t.Errorf("%s: not found out", name)
		}
	}
}

// The home of a person who works there is released within 10 miles with the probability that R1, the
// quantiles of the continuous law by another program, has for such a radius. 500,000 jobs
// for each of four radii; at a step of 1 m the lattice and the frame change less than
// 1e-5.
func TestQuantiles(t *testing.T) {
	const jobs = 500_000
	for p, quantile := range map[float64]float64{0.5: 1.678346990017, 0.75: 2.692634528890, 0.9: 3.889720169867, 0.99: 6.638352067994} {
		const radius = 1.22
		level := quantile / 10 * radius
		study := newStudy(t, newDomain(t, 1), []Setting{{level, radius}}, Commute{downtown, downtown, jobs})
		for k, r := range rowsOf(t, study) {
			want := [...]float64{p, planar.LaplaceLaw.Plane(quantile/10).Confidence(25) - p, planar.LaplaceLaw.Plane(quantile/10).Confidence(50) - planar.LaplaceLaw.Plane(quantile/10).Confidence(25), 1 - planar.LaplaceLaw.Plane(quantile/10).Confidence(50)}[k]
			if !believable(r.Released, jobs, want, 1e-5) {
				t.Errorf("%+v: share %v, not %v", r, float64(r.Released)/jobs, want)
			}
		}
	}
}
