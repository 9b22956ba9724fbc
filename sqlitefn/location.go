package sqlitefn

import (
	"strconv"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism"
)

// Positions of the first arguments of every release of a location, and of those that
// follow.
const (
	locationAccount = iota
	locationLat
	locationLon
	locationNext
)

// A locationRelease is a function that releases single locations, as a scalar (WKT) and
// table-valued. It says how the public arguments of a call, which follow the location,
// name a mechanism; all else is the same for every one.
type locationRelease struct {
	epsilon int // position of the argument, 0 where there is none
	name    int // of a domain or a mechanism; it may be missing where it is optional

	// mechanism returns the mechanism that the public arguments stand for. It is called
	// once for a statement while these stay the same.
	mechanism func(s *session, c call, public locationArgs) (mechanism.Location, error)
}

// locationArgs are the public arguments of a release.
type locationArgs struct {
	epsilon float64 // 0 where there is none
	name    string  // "" where it is not given
}

// lastLocation is the mechanism of a statement's last release by a function.
type lastLocation struct {
	release   *locationRelease
	public    locationArgs
	mechanism mechanism.Location
}

// mechanismOf returns the mechanism for the public arguments of the call. Within one
// statement these hardly ever change, so the last one is kept.
func (t *statement) mechanismOf(r *locationRelease, c call) (mechanism.Location, error) {
	var epsilon float64
	var name []byte
	var err error
	if r.epsilon > 0 {
		if epsilon, err = c.epsilon(r.epsilon); err != nil {
			return nil, err
		}
	}
	if c.given(r.name) {
		if name, err = c.text(r.name); err != nil {
			return nil, err
		}
	}
	last := t.lastOf(r)
	if last.mechanism != nil && last.public.epsilon == epsilon && last.public.name == string(name) {
		return last.mechanism, nil
	}
	public := locationArgs{epsilon, string(name)}
	m, err := r.mechanism(t.session, c, public)
	if err == nil {
		*last = lastLocation{r, public, m}
	}
	return m, err
}

// lastOf returns where the last mechanism of a function is kept.
func (t *statement) lastOf(r *locationRelease) *lastLocation {
	for i := range t.locations {
		if t.locations[i].release == r {
			return &t.locations[i]
		}
	}
	t.locations = append(t.locations, lastLocation{release: r})
	return &t.locations[len(t.locations)-1]
}

// draw checks every argument, pays what the mechanism says that its draw costs, and
// draws. It reports false for a NULL location, which is not released and costs nothing.
func (r *locationRelease) draw(t *statement, c call) (lat, lon float64, released bool, err error) {
	m, err := t.mechanismOf(r, c)
	if err != nil {
		return 0, 0, false, err
	}
	account, err := c.account(locationAccount, &t.account)
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon, null, err := c.location(locationLat)
	if err != nil || null {
		return 0, 0, false, err
	}
	paid, err := t.session.payer.one(t, c.f, account, m.Price())
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon = paid.location(m, lat, lon)
	return lat, lon, true, nil
}

// scalar is the form that answers WKT.
func (r *locationRelease) scalar(_ *session, c call) error {
	lat, lon, released, err := r.draw(c.Scope().(*statement), c)
	if err != nil || !released {
		return err
	}
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], lat, lon))
	return nil
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

// table is the form that answers a row of a table.
func (r *locationRelease) table(s *session, _ *function) cursor {
	return &locationCursor{s.newStatement(), r}
}

// locationCursor is the table-valued form of a release: one row a call.
type locationCursor struct {
	statement *statement
	release   *locationRelease
}

func (l *locationCursor) filter(c call, used uint) (sqlite.Rows, error) {
	lat, lon, released, err := l.release.draw(l.statement, c)
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
