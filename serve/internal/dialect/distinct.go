package dialect

import (
	"strconv"
	"strings"
)

// distinctOn rewrites SELECT DISTINCT ON (..) with its SELECT at list: rows are numbered in their order within those expressions,
// and the first ones stay. A name of ORDER BY that the select list explains stands for that expression, as does a
// position.
func (r *rewriter) distinctOn(list, open, from, tail, hi int) string {
	selects := min(from, tail)
	type item struct {
		span
		name string
	}
	var items []item
	for _, s := range r.list(r.match[open]+1, selects) {
		for i := s.lo; i < s.hi; i = r.after(i) {
			if name := r.tokens[i].Name(); strings.HasPrefix(name, "dx_") || strings.HasPrefix(name, "geo") {
				r.unsupported(i, "DISTINCT ON with private answers, which all rows would pay for", "choose the rows in a subquery, by row_number() OVER (PARTITION BY ..)")
			}
		}
		result, ok := r.result(s.lo, s.hi)
		if !ok {
			r.unsupported(list, "DISTINCT ON with *", "name the columns")
			return ""
		}
		if k := r.back(s.hi); r.tokens[k].Name() == result.Name && r.tokens[r.back(k)].Is("as") {
			s.hi = r.back(k)
		} else if k > s.lo && r.tokens[k].Name() == result.Name && !r.tokens[r.back(k)].IsSymbol(".") && r.back(k) >= s.lo {
			s.hi = k
		}
		items = append(items, item{s, result.Name})
	}
	// The tail has conditions and groups, ORDER BY, and limits.
	order, limit := hi, hi
	for i := tail; i < hi; i = r.after(i) {
		switch t := r.tokens[i]; {
		case t.Is("order") && order == hi:
			order = i
		case t.Is("limit") || t.Is("offset", "fetch") && r.limits(i, hi):
			limit = min(limit, i)
		}
	}
	order = min(order, limit)
	explained := func(lo, hi int) string {
		k := r.skip(lo, hi)
		end := k
		if k < hi {
			end = k + 1
		}
		n, err := strconv.Atoi(r.at(k, hi).Text)
		for p, it := range items {
			rest := r.skip(end, hi)
			alone := rest == hi || r.tokens[rest].Is("asc", "desc", "nulls")
			if alone && (err == nil && n == p+1 || r.at(k, hi).Name() != "" && r.at(k, hi).Name() == it.name) {
				return strings.TrimSpace(strings.TrimSpace(r.emit(it.lo, it.hi, false)) + r.emit(end, hi, false))
			}
		}
		return strings.TrimSpace(r.emit(lo, hi, false))
	}
	terms := func(lo, hi int) string {
		var list []string
		for _, item := range r.list(lo, hi) {
			list = append(list, explained(item.lo, item.hi))
		}
		return strings.Join(list, ", ")
	}
	by := ""
	if order < limit {
		by = " ORDER BY " + terms(r.skip(order+1, limit)+1, limit)
	}
	var shown, inner []string
	for k, it := range items {
		name := "pg_c" + strconv.Itoa(k+1)
		shown = append(shown, name+` AS "`+strings.ReplaceAll(it.name, `"`, `""`)+`"`)
		inner = append(inner, strings.TrimSpace(r.emit(it.lo, it.hi, false))+" AS "+name)
	}
	inner = append(inner, "row_number() OVER (PARTITION BY "+terms(open+1, r.match[open])+by+") AS pg_n", "row_number() OVER ("+strings.TrimSpace(by)+") AS pg_o")
	tables := ""
	if from < hi {
		tables = r.emitTables(from, tail, map[string]string{})
	}
	return "SELECT " + strings.Join(shown, ", ") + " FROM (SELECT " + strings.Join(inner, ", ") + " " + tables + " " + r.emit(tail, order, false) +
		") WHERE pg_n = 1 ORDER BY pg_o " + r.emitTail(limit, hi)
}
