package frame

import (
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/ledger"
)

// Payable reports whether it is known without reading a row that everybody can pay for the statement: it charges for groups only
// that cost once, with constant settings, so that no account pays more than for one group at each place, and each has so many times that left. It
// reports false where anything is not known. Nor may anything fail behind a charge before the answer is in a row: see [vdbe.Program.Places].
//
// An account pays at a place for the largest epsilon among its groups there, see disjoint.go, and all of them have the same. So the price
// is that of a statement with one group of one reading at each place, which a dry run tells. Any account may have rows, also one that
// the ledger does not know. Charges of others meanwhile may spend the rest, as they may after a dry run.
func (d *DryRun) Payable(times int64) bool {
	s := d.session
	places, ok := d.Program.Places(s.Table.Charges, d.pure.has, d.succeeds)
	if !ok || len(places) == 0 || !d.costOnce(places) {
		return false
	}
	one, ok := s.oneReading(places)
	if !ok {
		return false
	}
	defer func() { s.dry, s.payer = d, d }()
	paid, err := s.RunDry(one)
	if err != nil {
		return false
	}
	most, groups := map[budget.Unit]*Sum{}, int64(0)
	for of, total := range paid.totals {
		if most[of.Unit] == nil {
			most[of.Unit] = new(Sum)
		}
		most[of.Unit].AddSum(total.Sum)
	}
	for _, g := range paid.groups {
		groups += g.Count
	}
	if groups != int64(len(places)) { // not all are charged under d1
		return false
	}
	return s.allHave(most, times)
}

// succeeds reports whether calls of a function of SQLite never fail.
func (d *DryRun) succeeds(name string) bool {
	return d.pure.has(name) && slices.Contains([]string{"ceil", "floor", "max", "min", "nullif", "round", "sign"}, name)
}

// costOnce reports whether the groups at places are proved to be disjoint.
func (d *DryRun) costOnce(places []vdbe.Place) bool {
	s := d.session
	schemas, err := s.schemas()
	if err != nil {
		return false
	}
	databases, err := s.Databases()
	if err != nil {
		return false
	}
	key := programKey{sql: d.sql, schemas: schemas, uncommitted: d.uncommitted, dirty: true}
	for _, database := range databases {
		key.used += database.Name + "\n"
	}
	for _, place := range places {
		key.aggregate = place.Function
		p, err := proofs.Get(s, key, func() (proof, error) { return s.proveDisjoint(key, s.Table.Lookup(place.Function)) })
		if err != nil || p.missing != nil {
			return false
		}
	}
	return true
}

// oneReading returns a statement with one group of one reading at each place. It reports false if a setting is not constant.
func (s *Session) oneReading(places []vdbe.Place) (sql string, ok bool) {
	var groups []string
	for _, place := range places {
		if len(place.Arguments) < 3 || slices.Contains(place.Arguments[2:], "") {
			return "", false
		}
		groups = append(groups, "SELECT "+place.Function+"('a', 0, "+strings.Join(place.Arguments[secretReading+1:], ", ")+")")
	}
	return strings.Join(groups, " UNION ALL "), true
}

// allHave reports whether every account has so many times an amount left in each unit.
func (s *Session) allHave(most map[budget.Unit]*Sum, times int64) bool {
	l, err := s.Ledger()
	if err != nil {
		return false
	}
	for unit, sum := range most {
		least, err := ledger.Least(l, unit)
		needed, ok := sum.Capped().Times(times)
		if err != nil || !ok || sum.Times > 0 || needed > least {
			return false
		}
	}
	return true
}
