package optimal

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// A Quality selects the losses dQ of a [PlaceMechanism]: the cost of reporting an output
// for a place. Losses are public and need not be a metric. No promise rests on them.
type Quality uint8

// The numbers of qualities are part of the binary form of a [PlaceMechanism].
const (
	// QualityEuclid is the distance in the domain's frame, in metres.
	QualityEuclid Quality = iota

	// QualityManhattan is the distance of the metric [Manhattan], in metres.
	QualityManhattan

	// QualitySquared is the square of the distance in the frame, in square metres.
	QualitySquared

	// QualityBinary is 0 for the place itself and 1 for every other output, so that the
	// average loss is the probability of a release elsewhere.
	QualityBinary

	// QualityGiven holds the losses of [Builder.AddLosses], or the distances of
	// [Builder.AddDistances].
	QualityGiven
)

var qualityNames = [...]string{
	QualityEuclid: "euclid", QualityManhattan: "manhattan", QualitySquared: "squared", QualityBinary: "binary", QualityGiven: "given",
}

// String returns the name of the quality in lower case.
func (q Quality) String() string { return qualityNames[q] }

// Quality returns the quality whose losses are the distances of the metric.
func (m Metric) Quality() Quality {
	switch m {
	case Euclid:
		return QualityEuclid
	case Manhattan:
		return QualityManhattan
	default:
		return QualityGiven
	}
}

// maxLoss is greater than the square of any distance on the Earth, and far below where
// sums of losses overflow.
const maxLoss = maxDistance * maxDistance

// losses returns the losses of reporting outputs for places. Given losses have to
// be stored; for the others q knows a formula.
func (q Quality) losses(from, to places) Matrix {
	step := from.domain.Step()
	switch q {
	case QualityManhattan:
		return from.matrix(to, manhattanDistance, step)
	case QualitySquared:
		return from.matrix(to, func(a, b planar.Cell) float64 { return math.Pow(a.Distance(b)*step, 2) }, 1)
	case QualityBinary:
		return from.matrix(to, binaryLoss, 1)
	default:
		return from.matrix(to, planar.Cell.Distance, step)
	}
}

func binaryLoss(a, b planar.Cell) float64 {
	if a == b {
		return 0
	}
	return 1
}
