package cip

import (
	"context"
	"fmt"
	"time"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// perSecond is the number of exact units of time, microseconds, in a policy's second.
const perSecond = 1_000_000

// maxSpan is how many microseconds a float64 counts exactly, some 285 years.
const maxSpan = 1 << 53

// Noise returns the least noise with which a trace in a domain loses no more than the
// policy's epsilon. Its points have the given times, in ascending order. The policy's times
// are in seconds, and its radius in metres along the ellipsoid. Times count in whole
// microseconds. An error is about the times, which it calls t, or is one of
// [Policy.SmallestSigma2].
//
// # Privacy
//
// The variance of the noise follows from the times and the policy, which are public. The
// images of two locations of the domain's box that are the radius apart are at most
// [planar.Domain.MaxFrameDistance] apart, and the variance is computed for that radius.
// The noise is normal and added to the exact images; rounding the sum is post-processing.
// So the loss is at most epsilon, for locations in the frame with the conditional prior
// that the policy assumes.
func (p Policy) Noise(ctx context.Context, d *planar.Domain, times []time.Time) (*planar.Gaussian, error) {
	ticks, err := sinceFirst(times)
	if err != nil {
		return nil, err
	}
	p = p.withTimesIn(perSecond)
	p.Radius = d.MaxFrameDistance(p.Radius)
	variance, err := p.SmallestSigma2(ctx, ticks)
	if err != nil {
		return nil, err
	}
	return d.Gaussian(variance)
}

// sinceFirst returns the times since the first one, in microseconds. Seconds would not be
// exact: for points near each other and far from the first, the times, and the loss with
// them, would differ from those released.
func sinceFirst(times []time.Time) ([]float64, error) {
	ticks := make([]float64, len(times))
	for i, t := range times {
		since := t.UnixMicro() - times[0].UnixMicro()
		ticks[i] = float64(since)
		switch {
		case since > maxSpan:
			return nil, fmt.Errorf("t spans more than %d seconds", maxSpan/perSecond)
		case i > 0 && ticks[i] == ticks[i-1]:
			seconds := float64(t.UnixMicro()) / perSecond
			return nil, fmt.Errorf("t %s is there twice", decimal.Format(seconds))
		}
	}
	return ticks, nil
}
