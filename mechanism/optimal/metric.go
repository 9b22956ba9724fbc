package optimal

// A Metric selects the distances between places that epsilon is per.
type Metric uint8

// The numbers of metrics are part of the binary form of a [PlaceMechanism].
const (
	// Euclid is nowhere above the geodesics along the ellipsoid.
	Euclid Metric = iota

	// Manhattan is the metric of a town with streets that run east and north at the middle of
	// the domain's box.
	Manhattan

	// Given holds the distances of [Builder.AddDistances].
	Given
)

var metricNames = [...]string{Euclid: "euclid", Manhattan: "manhattan", Given: "given"}

// String returns the name of the metric in lower case.
func (m Metric) String() string { return metricNames[m] }

// maxDistance, in metres, exceeds all distances on the Earth, and is far below where sums
// of distances overflow.
const maxDistance = 1e9

// fits reports whether the distances may be those of the metric between the places.
func (m Metric) fits(p places, distances Matrix) bool {
	switch m {
	case Euclid:
		return p.supports(distances)
	case Manhattan:
		return distances.equal(p.manhattan())
	default:
		return distances.within(maxDistance)
	}
}
