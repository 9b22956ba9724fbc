package cip

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/geosql/geosql/mechanism/planar"
)

// perSecond is the unit in which times are exact; those of a policy are seconds.
const perSecond = 1_000_000

// maxSpan is how many of it a float64 counts, some 285 years.
const maxSpan = 1 << 53

// Noise returns the least noise with which a trace in a domain, whose points have the
// times given in ascending order, loses no more than the policy's epsilon. A policy's
// numbers for time are seconds, and its radius is metres along the ellipsoid. Times
// count in whole microseconds. An error, in which t is a time, is about the times or
// one of [Policy.SmallestSigma2].
//
// # Privacy
//
// The variance of the noise follows from the times and the policy, which are public. Two
// locations of the domain's box that are the radius apart have images that are at most
// [planar.Domain.MaxFrameDistance] from each other, which is the radius that the variance is for.
// The noise is normal and added to the images as they are; that the sum is then rounded
// is post-processing. So the loss is at most epsilon, for locations in the frame with the
// conditional prior that the policy assumes.
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

// sinceFirst returns times since the first one. Seconds would not be exact: of points near
// each other and far from the first, time would differ from what is released, and the
// loss with it.
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
			return nil, fmt.Errorf("t %s is there twice", strconv.FormatFloat(seconds, 'f', -1, 64))
		}
	}
	return ticks, nil
}
