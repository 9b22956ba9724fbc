package worker

import (
	"encoding/binary"
	"math"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
	"github.com/jackc/pgx/v5/pgconn"
)

type (
	pgconnConn   = pgconn.PgConn
	pgconnNotice = pgconn.Notice
)

func init() {
	registerRemote = func(conn *sqlite.Conn, r sqlitefn.Remote) error {
		lib := sqlite.Library{Scalars: []sqlite.Scalar{{Name: "dx_value", Args: []int{2}, Call: func(c *sqlite.Call) error {
			answer, err := r.Call("dx_value", []sqlite.Value{*c.Arg(0), *c.Arg(1)})
			return fakeResult(c, answer, err)
		}}}}
		for _, name := range []string{"dx_sum", "dx_count", "dx_avg", "dx_min", "dx_max"} {
			lib.Aggregates = append(lib.Aggregates, sqlite.Aggregate{Name: name, Args: []int{2, 3}, New: func() sqlite.Group { return fakeGroup{r.Group(name)} }})
		}
		return conn.Register(lib)
	}
}

type fakeGroup struct{ sqlitefn.RemoteGroup }

func (g fakeGroup) Step(c *sqlite.Call) error {
	return g.RemoteGroup.Step([]sqlite.Value{*c.Arg(0), *c.Arg(1)})
}

func (g fakeGroup) Final(c *sqlite.Call) error {
	answer, err := g.RemoteGroup.Final()
	return fakeResult(c, answer, err)
}

func fakeResult(c *sqlite.Call, answer sqlitefn.Released, err error) error {
	if err != nil {
		return err
	}
	switch bits := binary.BigEndian.Uint64(answer[1:]); answer[0] {
	case 'f':
		c.ResultFloat(0, math.Float64frombits(bits))
	default:
		c.ResultInt(0, int64(bits))
	}
	return nil
}
