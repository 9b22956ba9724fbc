package sqlitefn

import (
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// Positions of the first arguments of every release of a location, and of those that
// follow.
const (
	locationAccount = iota
	locationLat
	locationLon
	locationNext
)

// Positions of geoind_laplace's other arguments.
const (
	laplaceEpsilon = locationNext + iota
	laplaceDomain
)

// laplacePlan is all that a release needs besides its secret.
type laplacePlan struct {
	cost    budget.Amount
	laplace *planar.Laplace
	domain  *planar.Domain
}

type laplaceKey struct {
	domain  *planar.Domain
	epsilon float64
}

// laplaceArgs are the public arguments that a statement's last plan was for.
type laplaceArgs struct {
	epsilon float64
	domain  string // "" for the only one
}

// laplacePlanFor is the plan for the public arguments of the call. Within one
// statement they hardly ever change, so the last one is kept.
func (t *statement) laplacePlanFor(c call) (*laplacePlan, error) {
	eps, err := c.epsilon(laplaceEpsilon)
	if err != nil {
		return nil, err
	}
	var name []byte
	if c.given(laplaceDomain) {
		if name, err = c.text(laplaceDomain); err != nil {
			return nil, err
		}
	}
	if t.plan != nil && t.planFor.epsilon == eps && t.planFor.domain == string(name) {
		return t.plan, nil
	}
	domain, err := t.session.domain(c, laplaceDomain)
	if err != nil {
		return nil, err
	}
	plan, err := t.session.laplacePlan(domain, eps)
	if err != nil {
		return nil, err
	}
	t.plan, t.planFor = plan, laplaceArgs{eps, string(name)}
	return plan, nil
}

func (s *session) laplacePlan(domain *planar.Domain, eps float64) (*laplacePlan, error) {
	key := laplaceKey{domain, eps}
	if p := s.laplaces[key]; p != nil {
		return p, nil
	}
	rat := budget.Decimal(eps)
	cost, err := budget.Cost(rat)
	if err != nil {
		return nil, err
	}
	l, err := domain.Laplace(rat)
	if err != nil {
		return nil, err
	}
	p := &laplacePlan{cost, l, domain}
	remember(s.laplaces, key, p)
	return p, nil
}

// A locationRelease releases one location. It reports false for a NULL location,
// which is not released and costs nothing.
type locationRelease func(*statement, call) (lat, lon float64, released bool, err error)

// laplaceRelease checks every argument, charges, and draws.
func (t *statement) laplaceRelease(c call) (lat, lon float64, released bool, err error) {
	plan, err := t.laplacePlanFor(c)
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon, source, null, err := t.chargeLocation(c, budget.Metre, plan.cost)
	if err != nil || null {
		return 0, 0, false, err
	}
	if source == nil {
		lat, lon = plan.domain.Centre()
		return lat, lon, true, nil
	}
	lat, lon = plan.laplace.Draw(source, lat, lon)
	return lat, lon, true, nil
}

// chargeLocation checks account, lat and lon, the first arguments of every release of
// a location, and charges what it costs unless the location is NULL. The source is that
// of charge.
func (t *statement) chargeLocation(c call, unit budget.Unit, cost budget.Amount) (lat, lon float64, source *exact.Source, null bool, err error) {
	var room [20]byte
	account, err := c.account(locationAccount, &room)
	if err != nil {
		return 0, 0, nil, false, err
	}
	lat, lon, null, err = c.location(locationLat)
	if err != nil || null {
		return 0, 0, nil, null, err
	}
	source, err = t.charge(c.f, account, unit, cost)
	return lat, lon, source, false, err
}

// releasePoint is the scalar form of a release: WKT.
func releasePoint(release locationRelease) func(*session, call) error {
	return func(_ *session, c call) error {
		lat, lon, released, err := release(c.Scope().(*statement), c)
		if err != nil || !released {
			return err
		}
		var room [64]byte
		c.ResultText(0, appendPoint(room[:0], lat, lon))
		return nil
	}
}

// appendPoint writes a WKT point. Released coordinates have 7 decimals.
func appendPoint(b []byte, lat, lon float64) []byte {
	b = append(b, "POINT("...)
	b = strconv.AppendFloat(b, lon, 'f', 7, 64)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, lat, 'f', 7, 64)
	return append(b, ')')
}

// locationColumns are those of the table-valued form of a release.
var locationColumns = []string{"lat REAL", "lon REAL", "wkt TEXT"}

// locationCursor is the table-valued form of a release: one row a call.
type locationCursor struct {
	statement *statement
	release   locationRelease
}

func newLocationCursor(release locationRelease) func(*session, *function) cursor {
	return func(s *session, _ *function) cursor { return &locationCursor{s.newStatement(), release} }
}

func (l *locationCursor) filter(c call, used uint) (sqlite.Rows, error) {
	lat, lon, released, err := l.release(l.statement, c)
	if err != nil {
		return sqlite.NoRow, err
	}
	if !released {
		return sqlite.LastRow, nil // one row of NULLs
	}
	c.ResultFloat(0, lat)
	c.ResultFloat(1, lon)
	if used&(1<<2) != 0 {
		var room [64]byte
		c.ResultText(2, appendPoint(room[:0], lat, lon))
	}
	return sqlite.LastRow, nil
}

func (l *locationCursor) next(call) (sqlite.Rows, error) { return sqlite.NoRow, nil }
func (l *locationCursor) close()                         { l.statement.End() }
