package sqlitefn_test

import (
	"fmt"
	"maps"
	"strings"
)

// A shadow works out the cost of a statement over sealed values from the values that its groups
// are given, in the simplest way. Its values are texts: the account, the column and the row.
type shadow struct {
	most     int  // how often a group may have a value
	tooOften bool // a group has had one more often: the statement has failed
	repeated bool // a group has had a value twice
	empty    bool // a group has had none
	differs  bool // a group of sealed values has another law than one of plain values
	batches  bool // a group has had more rows than are passed on together
	ones     bool // ones were counted, which costs accounts with zeros too
	again    bool // a question was asked twice, which costs once

	sums    map[string]float64    // of epsilon by value and unit
	largest map[[2]string]float64 // of them, by account and unit
	values  map[[2]string]float64 // the payment for it
	others  map[[2]string]float64 // the other payments
	before  map[[2]string]float64 // the payments when the statement failed
}

func newShadow(most int) *shadow {
	return &shadow{
		most: most, sums: map[string]float64{}, largest: map[[2]string]float64{},
		values: map[[2]string]float64{}, others: map[[2]string]float64{},
	}
}

// charges returns the payments, by account and unit.
func (s *shadow) charges() map[[2]string]float64 {
	all := maps.Clone(s.others)
	for at, paid := range s.values {
		all[at] += paid
	}
	return all
}

// contradicts returns the right charges of the ledger, if its charges are wrong. A statement that
// fails has paid for the groups before. Open groups may then be paid for or not; and it
// fails earlier if rows of a group were passed on before its end.
func (s *shadow) contradicts(charged map[[2]string]float64) string {
	all := s.charges()
	if !s.tooOften {
		if !maps.Equal(charged, all) {
			return fmt.Sprintf("want %v", all)
		}
		return ""
	}
	for at, c := range charged {
		if c > all[at] {
			return fmt.Sprintf("want at most %v", all)
		}
	}
	for at, c := range s.before {
		if charged[at] < c && !s.batches && !s.again {
			return fmt.Sprintf("want at least %v", s.before)
		}
	}
	return ""
}

// A shadowGroup is the SQL aggregate seen(call, epsilon, value).
type shadowGroup struct {
	in      *shadow
	name    string // of the function
	metric  string
	epsilon float64
	given   []string
	times   map[string]int    // that each value came
	rows    map[[2]string]int // of each account and unit
}

func (s *shadow) group() *shadowGroup {
	return &shadowGroup{in: s, times: map[string]int{}, rows: map[[2]string]int{}}
}

func (g *shadowGroup) Step(call string, epsilon, value any) {
	g.name, g.metric, _ = strings.Cut(call, " ")
	switch e := epsilon.(type) {
	case int64:
		g.epsilon = float64(e)
	case float64:
		g.epsilon = e
	}
	if v, ok := value.(string); ok {
		g.given = append(g.given, v)
	}
}

// take counts the values of the group, unless there is one too often. That is at its end, as the
// rows of a group are passed on in batches.
func (g *shadowGroup) take() bool {
	s := g.in
	for _, v := range g.given {
		g.times[v]++
		s.repeated = s.repeated || g.times[v] > 1
		if g.times[v] > s.most {
			return false
		}
		account, _, _ := strings.Cut(v, " ")
		at := [2]string{account, g.unit(v)}
		g.rows[at]++
		if g.rule() == "by value" {
			s.sums[v+at[1]] += g.epsilon
			s.largest[at] = max(s.largest[at], s.sums[v+at[1]])
		}
	}
	return true
}

// rule returns the price rule of a group: epsilon once, epsilon by row, or the largest sum by value.
func (g *shadowGroup) rule() string {
	switch {
	case g.name == "dx_accounts", g.name == "dx_centroid", g.metric == "dinf", g.metric == "person":
		return "once"
	case g.name == "dx_count", g.name == "dx_histogram", g.name == "dx_heatmap", g.metric == "nd1", g.metric == "dh":
		return "by row"
	}
	return "by value"
}

// unit returns the unit that a group with a value costs.
func (g *shadowGroup) unit(value string) string {
	switch {
	case g.name == "dx_centroid":
		return "m"
	case g.rule() == "by row", g.name == "dx_accounts", g.metric == "person":
		return "record"
	case strings.Contains(value, " x "):
		return "kWh"
	}
	return "yes"
}

func (g *shadowGroup) Done() int64 {
	s := g.in
	s.batches = s.batches || len(g.given) > 50
	if !g.take() {
		if !s.tooOften {
			s.tooOften, s.before = true, s.charges()
		}
		return 0
	}
	s.empty = s.empty || len(g.rows) == 0
	divided := g.name == "dx_avg" || g.name == "dx_variance" || g.name == "dx_stddev"
	s.differs = s.differs || g.metric == "person" || divided && (g.metric == "nd1" || g.metric == "dh") // how many rows there are is public
	s.ones = s.ones || g.name == "dx_count" || g.name == "dx_accounts"
	for at, rows := range g.rows {
		switch g.rule() {
		case "once":
			s.others[at] += g.epsilon
		case "by row":
			s.others[at] += g.epsilon * float64(rows)
		default:
			s.values[at] = s.largest[at]
		}
	}
	return 0
}
