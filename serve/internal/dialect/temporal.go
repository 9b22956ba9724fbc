package dialect

import (
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
)

// A temporal is a kind of time. To SQLite they are all texts, so that operators on them become functions, which read the
// texts. That is done where the statement itself tells that an operand is one, never because of a column.
type temporal int

const (
	noTime temporal = iota // or not known
	aDate
	aTimestamp
	anInstant // a timestamp with a time zone
	anInterval
)

// temporals are the kinds by the names of types, and of SQLite's words and functions.
var temporals = map[string]temporal{"date": aDate, "current_date": aDate, "timestamp": aTimestamp, "datetime": aTimestamp, "timestamptz": anInstant,
	"current_timestamp": anInstant, "localtimestamp": anInstant, "interval": anInterval}

// hasTimes reports whether a statement has a word that names a kind of time, or calls a function of one.
func hasTimes(tokens []sqltext.Token) bool {
	return slices.ContainsFunc(tokens, func(t sqltext.Token) bool {
		name := t.Name()
		return temporals[name] != noTime || kindOfType(pgcatalog.Returns(name)) != noTime
	})
}

func kindOfType(oid uint32) temporal {
	if t := pgcatalog.ByOID(oid); t != nil {
		return temporals[t.Name]
	}
	return noTime
}

// typeOfKind returns the type of an operator's answer.
func typeOfKind(k temporal) uint32 {
	return pgcatalog.OID(map[temporal]string{aDate: "date", aTimestamp: "timestamp", anInstant: "timestamptz", anInterval: "interval"}[k])
}

// joined returns the kind of a sum, or of a difference.
func joined(operator string, a, b temporal) temporal {
	minus := operator == "-"
	switch {
	case a == noTime && b == noTime, minus && a == aDate && b == aDate: // days
		return noTime
	case a == anInterval && b == anInterval, minus && b != anInterval && (a != aDate || b != noTime):
		return anInterval
	case a == aDate && b == noTime, a == noTime && b == aDate:
		return aDate
	case a == anInstant || b == anInstant:
		return anInstant
	}
	return aTimestamp
}

// temporal returns the kind of the expression from lo to hi.
func (r *rewriter) temporal(lo, hi int) temporal {
	if !r.times {
		return noTime
	}
	items := r.items(lo, hi)
	kind, operator, from := noTime, "", 0
	for k := 0; k <= len(items); k++ {
		end := hi
		if k < len(items) {
			t := r.tokens[items[k]]
			switch {
			case compares(t), t.Is("and", "or", "not", "in", "between", "select"), t.IsSymbol("||", ",", "->", "->>"):
				return noTime
			case k == from || !t.IsSymbol("+", "-"):
				continue
			}
			end = items[k]
		}
		if from == k {
			return noTime
		}
		term := r.term(items[from:k], end)
		if operator == "" {
			kind = term
		} else {
			kind = joined(operator, kind, term)
		}
		if k < len(items) {
			operator, from = r.tokens[items[k]].Text, k+1
		}
	}
	return kind
}

// term returns the kind of a product, or of one operand.
func (r *rewriter) term(items []int, end int) temporal {
	for k := len(items) - 1; k >= 0; k-- {
		t := r.tokens[items[k]]
		switch {
		case t.IsSymbol("*", "/", "%") && k > 0 && k+1 < len(items):
			if r.term(items[:k], items[k]) == anInterval || r.term(items[k+1:], end) == anInterval {
				return anInterval
			}
			return noTime
		case t.IsSymbol("::"):
			ty, _ := r.typeName(items[k]+1, end)
			return temporals[ty.name]
		case t.Is("at") && k > 0:
			if r.term(items[:k], items[k]) == aTimestamp {
				return anInstant
			}
			return aTimestamp
		}
	}
	first := items[0]
	t := r.tokens[first]
	chain, after := r.chain(first, end)
	open := r.skip(after, end)
	switch {
	case t.IsSymbol("(") && len(items) == 1 && r.match[first] >= 0:
		kind, known := r.kinds[first]
		if !known {
			kind = r.temporal(first+1, r.match[first])
			r.kinds[first] = kind
		}
		return kind
	case len(chain) == 0:
		return noTime
	case isLiteral(r.at(open, end)), t.Is("current_date", "current_timestamp", "localtimestamp") && open == end:
		return temporals[t.Name()]
	case !r.opens(open, end):
		return noTime
	}
	name := chain[len(chain)-1]
	switch as := r.find(open+1, r.match[open], "as"); {
	case name == "cast" && as > 0:
		ty, _ := r.typeName(as+1, r.match[open])
		return temporals[ty.name]
	case !sameType[name].empty():
		argument := r.split(open)[0]
		return r.temporal(argument.lo, argument.hi)
	case temporals[name] != noTime:
		return temporals[name]
	}
	return kindOfType(pgcatalog.Returns(name))
}

// units are the words behind interval '7'.
var units = set("year month day hour minute second")

// timed are the functions of operators on times.
var timed = map[string]string{"+": "pg_add", "-": "pg_subtract", "*": "pg_multiply", "/": "pg_divide"}

// compare rewrites a comparison with an interval beside it. It returns 0 for others.
func (r *rewriter) compare(e *emitter, i, hi int) int {
	if !r.times || e.operand < 0 {
		return 0
	}
	list := r.links(r.skip(i+1, hi), hi)
	if len(list) == 0 {
		return 0
	}
	from, end := list[0].lo, list[len(list)-1].hi
	if r.temporal(e.sum.token, i) != anInterval && r.temporal(from, end) != anInterval {
		return 0
	}
	left := strings.TrimSpace(strings.Join(e.out[e.sum.chunk:], ""))
	e.out = append(e.out[:e.sum.chunk], "pg_span("+left+") "+r.tokens[i].Text+" pg_span("+r.emit(from, end, false)+")")
	e.operand = -1
	return end
}

// atTimeZone rewrites x AT TIME ZONE y with its AT at i.
func (r *rewriter) atTimeZone(e *emitter, i, hi int) int {
	from := r.skip(r.skip(r.skip(i+1, hi)+1, hi)+1, hi)
	end := r.operandEnd(from, hi, false)
	if end == from {
		r.fail(i, "42601", "a zone has to follow AT TIME ZONE")
		return hi
	}
	zone := strings.TrimSpace(r.emit(from, end, false))
	e.apply(func(x string) string { return "timezone(" + zone + ", " + x + ")" })
	return end
}

// ordered rewrites the term of ORDER BY from token i on if it is an interval, or the name of one in the select list. It returns 0
// for others.
func (r *rewriter) ordered(e *emitter, i, hi int) int {
	end := i
	for end < hi && !r.tokens[end].IsSymbol(",") && !r.tokens[end].Is("asc", "desc", "nulls", "limit", "offset", "fetch", "for", "rows", "range", "groups") {
		end = r.after(end)
	}
	first := r.skip(i, end)
	named := r.skip(first+1, end) == end && r.intervals[r.at(first, end).Name()]
	if !named && r.temporal(i, end) != anInterval {
		return 0
	}
	term := r.emit(i, end, false)
	trimmed := strings.TrimRight(term, " \t\r\n")
	e.push("pg_span(" + trimmed + ")" + term[len(trimmed):])
	return end
}

// intervalNames returns the names that a select list gives to intervals.
func (r *rewriter) intervalNames(lo, hi int) (list []string) {
	if !r.times {
		return nil
	}
	for _, item := range r.list(lo, hi) {
		name := r.back(item.hi)
		if name <= item.lo || r.tokens[name].Name() == "" {
			continue
		}
		end := name
		if as := r.back(name); r.tokens[as].Is("as") {
			end = as
		}
		if r.temporal(item.lo, end) == anInterval {
			list = append(list, r.tokens[name].Name())
		}
	}
	return list
}
