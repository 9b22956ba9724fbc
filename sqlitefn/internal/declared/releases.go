package declared

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// IsTrue reports whether a location is none that may be a release.
func IsTrue(s *frame.Session, lat, lon float64) bool {
	released, err := isRelease(s, lat, lon)
	return !released && err == nil // a declaration that cannot be read says nothing
}

// isRelease reports whether a location may be a release under the declarations of a database: a lattice point of a domain, as it is
// printed, or a place of an optimal mechanism. Others are true locations, or were computed from releases.
func isRelease(s *frame.Session, lat, lon float64) (bool, error) {
	names, err := declaredNames(s, "domain")
	for i := 0; err == nil && i < len(names); i++ {
		var d *planar.Domain
		if d, err = domainNamed(s, names[i]); err == nil && d.Prints(lat, lon) {
			return true, nil
		}
	}
	if err != nil {
		return false, err
	}
	names, err = declaredNames(s, "optimal")
	for i := 0; err == nil && i < len(names); i++ {
		o, failed := OptimalNamed(s, names[i])
		if err = failed; err == nil {
			if _, released := o.Output(lat, lon); released {
				return true, nil
			}
		}
	}
	return false, err
}
