package sqlitefn_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn"
)

// meter returns a meter of the connection.
func (d *database) meter() (m *sqlitefn.Meter) {
	d.Helper()
	d.raw(func(c *sqlitefn.Conn) {
		var err error
		if m, err = c.Meter(); err != nil {
			d.Fatal(err)
		}
	})
	return m
}

// leave sets the limits so that accounts have an amount left.
func (d *database) leave(more float64) {
	d.Helper()
	for _, unit := range []string{"kWh", "record"} {
		d.run(fmt.Sprintf(`SELECT budget_limit('*', '%s', %v)`, unit, d.spent("ana", unit)+more))
	}
}

// A statement of which nobody makes a dry run, since it is known without rows that everybody can pay, is not refused.
func TestPayableStatementsAreNotRefused(t *testing.T) {
	t.Parallel()
	d := newReadings(t)
	m := d.meter()
	q := randomSQL{trials.Rand(t)}
	settings := regexp.MustCompile(`, 1, 'u'`)
	known, statements := 0, trials.Count(t, "GEOSQL_STATEMENTS", 150)
	for i := range statements {
		if i%20 == 0 {
			d.plan(i%40 == 0)
		}
		sql := q.of(q.statement(), q.with()+q.groups(), q.with()+q.groups(), q.with()+q.groups()+" UNION ALL "+q.groups())
		sql = withArguments(strings.ReplaceAll(sql, "%s(", "dx_sum("))
		sql = settings.ReplaceAllStringFunc(sql, func(all string) string { return q.of(all, all, ", 0.5, 'u', 'd1'", ", 1e0, 'u'", ", 1, 'u', 'dh'") })
		sql = strings.Replace(sql, "dx_sum(", q.of("dx_sum(", "dx_max("), 1)
		needsNone := func() bool {
			f, err := m.Foresee(sql, false)
			return f == nil && err == nil
		}
		if !needsNone() {
			continue
		}
		more := 0.0
		for d.leave(more); !needsNone(); d.leave(more) {
			more += 0.5
		}
		if more > 0 { // there are several groups
			_, err := d.try(sql)
			if refusal := new(ledger.RefusalError); errors.As(err, &refusal) {
				t.Errorf("%s\nis refused with %v left: %v", sql, more, err)
			}
			known++
		}
		d.leave(1000)
	}
	t.Logf("everybody can pay for %d of %d statements", known, statements)
	if known < statements/40 { // an eighth are: 2 of 150 or fewer, below 1e-6
		t.Error("too few to be a test")
	}
}
