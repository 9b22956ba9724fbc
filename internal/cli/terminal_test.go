package cli

import (
	"testing"
	"time"
)

func TestShareAndRest(t *testing.T) {
	for _, c := range []struct {
		share float64
		left  time.Duration
		want  string
	}{
		{0, 0, "0 %"},
		{0.43, 2 * time.Minute, "43 %, about 2 min left"},
		{0.987, 1200 * time.Millisecond, "99 %, about 2 s left"},
		{0.5, 99 * time.Second, "50 %, about 99 s left"},
		{0.5, 100 * time.Second, "50 %, about 2 min left"},
		{0.021, 90 * time.Minute, "2 %, about 90 min left"},
		{0.021, 150 * time.Minute, "2 %, about 2 h left"},
	} {
		if got := ShareAndRest(c.share, c.left); got != c.want {
			t.Errorf("%v, %v: %q, not %q", c.share, c.left, got, c.want)
		}
	}
}
