package cip_test

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/cip"
	"github.com/geosql/geosql/mechanism/planar"
)

// beijing returns a domain, and a policy for traces in it that knows a thousandth of a
// second from the next.
func beijing(t *testing.T) (*planar.Domain, cip.Policy) {
	t.Helper()
	d, err := planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cip.ParsePolicy(`{"kernel":"rbf","variance":1000000,"length_scale":0.001,"radius":50,"lambda":2,"epsilon":0.5,"family":[[1, 2]]}`)
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

// Times are exact however long a trace is. Four points lie a few microseconds apart, and
// one so long before them that it says nothing about them: thirty years, where float64
// seconds would move the four by a twentieth of the time between them, demand the noise
// that a thousand seconds do.
func TestTimesOfNoiseAreExact(t *testing.T) {
	d, p := beijing(t)
	noise := func(before time.Duration) planar.Gaussian {
		last := time.Unix(1_700_000_000, 0)
		times := []time.Time{last.Add(-before)}
		for _, micros := range []int{0, 1, 3, 7} {
			times = append(times, last.Add(time.Duration(micros)*time.Microsecond))
		}
		n, err := p.Noise(t.Context(), d, times)
		if err != nil {
			t.Fatal(err)
		}
		return *n
	}
	if short, long := noise(1000*time.Second), noise(1_000_000_000*time.Second); short != long {
		t.Errorf("noise of %v and of %v", short, long)
	}
}

// Noise is that of the smallest variance for the policy's numbers, in seconds and in
// metres of the frame.
func TestNoise(t *testing.T) {
	d, p := beijing(t)
	inFrame := p
	inFrame.Radius = d.MaxFrameDistance(p.Radius)
	variance, err := inFrame.SmallestSigma2(t.Context(), []float64{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.Gaussian(variance)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Noise(t.Context(), d, []time.Time{time.Unix(5, 0), time.Unix(6, 0), time.Unix(7, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if *got != *want {
		t.Errorf("noise %v, want %v", *got, *want)
	}
}

func TestNoiseRefuses(t *testing.T) {
	d, p := beijing(t)
	at := func(seconds ...int64) (times []time.Time) {
		for _, s := range seconds {
			times = append(times, time.Unix(s, 500_000_000))
		}
		return times
	}
	for want, times := range map[string][]time.Time{
		"t 6.5 is there twice":                 at(5, 6, 6),
		"t spans more than 9007199254 seconds": at(0, 9_007_199_255),
		"there must be 1 to 256 times, not 0":  nil,
	} {
		if _, err := p.Noise(t.Context(), d, times); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", times, err, want)
		}
	}
}
