package sqlitefn

import (
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/cip"
	"github.com/geosql/geosql/mechanism/planar"
)

// Times are exact however long a trace is. Four points lie a few microseconds apart, and
// one so long before them that it says nothing about them: thirty years, where float64
// seconds would move the four by a twentieth of the time between them, demand the noise
// that a thousand seconds do.
func TestCIPTimesAreExact(t *testing.T) {
	domain, err := planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := cip.ParsePolicy(`{"kernel":"rbf","variance":1000000,"length_scale":0.001,"radius":50,"lambda":2,"epsilon":0.5,"family":[[1, 2]]}`)
	if err != nil {
		t.Fatal(err)
	}
	noise := func(before time.Duration) planar.Gaussian {
		s := newSession(memory(t), options{})
		g := cipGroup{session: s, policy: policy, domain: domain}
		last := time.Unix(1_700_000_000, 0)
		g.fixes = append(g.fixes, cipFix{at: last.Add(-before)})
		for _, micros := range []int{0, 1, 3, 7} {
			g.fixes = append(g.fixes, cipFix{at: last.Add(time.Duration(micros) * time.Microsecond)})
		}
		n, err := g.noise()
		if err != nil {
			t.Fatal(err)
		}
		return *n
	}
	if short, long := noise(1000*time.Second), noise(1_000_000_000*time.Second); short != long {
		t.Errorf("noise of %v and of %v", short, long)
	}
}
