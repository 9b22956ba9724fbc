package optimal

import (
	"math"
	"time"

	"github.com/geosql/geosql/mechanism/optimal"
)

// Progress holds how far the search for a mechanism has come.
type Progress struct {
	Mechanism         string
	Epsilon, Dilation float64       // of [Optimal]
	Share             float64       // of the work done, from 0 to 1
	Left              time.Duration // an estimate of the remaining time; 0 if there is none
}

// leastShare is the share of the work after which the remaining time is estimated.
const leastShare = 0.02

// solverProgress returns a function that reports the progress of a solver that begins now. The
// solver's steps take about the same time, and divide the gap by about the same factor once
// it is less than 1.
func (s *Study) solverProgress(epsilon, dilation float64) func(optimal.Progress) {
	if s.Progress == nil {
		return nil
	}
	begin := time.Now()
	return func(p optimal.Progress) {
		share := shareDone(p.Gap(), s.settings.Gap)
		if share == 0 {
			begin = time.Now()
		}
		s.Progress(Progress{Optimal, epsilon, dilation, share, timeLeft(time.Since(begin), share)})
	}
}

// shareDone returns the share done of the way from a gap of 1 to the gap aim.
func shareDone(gap, aim float64) float64 {
	return min(1, max(0, math.Log(gap)/math.Log(aim)))
}

// timeLeft returns an estimate of the remaining time, given the time that a share has taken.
func timeLeft(elapsed time.Duration, share float64) time.Duration {
	if share < leastShare {
		return 0
	}
	return time.Duration(float64(elapsed) * (1 - share) / share)
}
