package optimal

import (
	"math"
	"time"

	"github.com/geosql/geosql/mechanism/optimal"
)

// Progress is how far the search for a mechanism has come.
type Progress struct {
	Mechanism         string
	Epsilon, Dilation float64       // of [Optimal]
	Share             float64       // of the work that is done, from 0 to 1
	Left              time.Duration // an estimate; 0: there is none
}

// leastShare is how much must be done before the rest is estimated.
const leastShare = 0.02

// solverProgress returns what tells Progress of a solver that begins now. Its steps take
// about the same time, and divide the gap by about the same factor from the one on
// which first makes it less than 1.
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

// shareDone returns how much of the way from a gap of 1 to that of the settings is
// done.
func shareDone(gap, aim float64) float64 {
	return min(1, max(0, math.Log(gap)/math.Log(aim)))
}

// timeLeft estimates how long the rest takes when a share has taken so long.
func timeLeft(elapsed time.Duration, share float64) time.Duration {
	if share < leastShare {
		return 0
	}
	return time.Duration(float64(elapsed) * (1 - share) / share)
}
