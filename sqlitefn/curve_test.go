package sqlitefn_test

import (
	"fmt"
	"strings"
	"testing"
)

// An epsilon of 200 leaves no noise to speak of.
func TestCurve(t *testing.T) {
	d := declared(t)
	d.run(readings...) // 0, 0, 4, 4, 9 and 10 in the universe
	d.answers(`SELECT dx_curve(account, x, 200, 'u', 2) FROM r`,
		`[[{"m":6,"lo":0,"hi":10,"step":1,"epsilon":200,"edges":[0,3,6],"sums":[4,23]}]]`)
	d.answers(`SELECT dx_curve(account, x, 200, 'u', '[50, 90]') FROM r`,
		`[[{"m":6,"lo":0,"hi":10,"step":1,"epsilon":200,"edges":[0,3,5,6],"sums":[4,13,10]}]]`)
	d.answers(`SELECT account, function, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[42 dx_curve kWh 200 2] [42 dx_curve kWh 200 2] [ana dx_curve kWh 200 3] [ana dx_curve kWh 200 3] [bo dx_curve kWh 200 1] [bo dx_curve kWh 200 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT g, dx_curve(account, x, 7, ''u'', 2) FROM r GROUP BY g') ORDER BY 1`,
		`[[42 kWh 7 7] [ana kWh 7 7] [bo kWh 7 7]]`)
	d.answers(`SELECT g, dx_curve(account, x, 200, 'u', 100) ->> '$.sums' FROM r GROUP BY g ORDER BY g`, `[[1 [0,4,4]] [2 [0,9,10]]]`)
	d.answers(`SELECT p.value, dx_curve_percentile(c, p.value) FROM (SELECT dx_curve(account, x, 200, 'u') AS c FROM r), json_each('[0, 25, 50, 75, 100]') p`,
		`[[0 0] [25 0] [50 4] [75 9] [100 10]]`)
	d.answers(`SELECT dx_curve_share(c, -1), dx_curve_share(c, 0), dx_curve_share(c, 4.5), dx_curve_share(c, 10), dx_curve_mean(c, 0, 100), dx_curve_mean(c, 50, 100), dx_curve_mean(c, 90, 100)
		FROM (SELECT dx_curve(account, x, 200, 'u', '[50, 90]') AS c FROM r)`, `[[0 0 0.5 1 5 8 10]]`)
	d.answers(`SELECT dx_within(dx_curve_percentile(c, 50)), dx_rank_within(dx_curve_percentile(c, 50)) FROM (SELECT dx_curve(account, x, 200, 'u') AS c FROM r)`, `[[<nil> <nil>]]`)
}

// Without a reading nobody pays, and the curve has no block; without a row it is NULL.
func TestCurveWithoutReadings(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT dx_curve('ana', NULL, 200, 'u'), dx_curve(NULL, NULL, 200, 'u', '[50]') = dx_curve(NULL, NULL, 200, 'u', 7)`,
		`[[{"m":0,"lo":0,"hi":10,"step":1,"epsilon":200,"edges":[0],"sums":[]} 1]]`)
	d.answers(`SELECT dx_curve_percentile(c, 50), dx_curve_share(c, -1), dx_curve_share(c, 0), dx_curve_mean(c, 0, 100) FROM (SELECT dx_curve('ana', NULL, 200, 'u') AS c)`,
		`[[0 0 1 0]]`)
	d.answers(`SELECT dx_curve_percentile(c, 50), dx_curve_share(c, 1), dx_curve_mean(c, 0, 100) FROM (SELECT dx_curve('ana', 3, 200, 'u') AS c FROM (SELECT 1) WHERE false)`,
		`[[<nil> <nil> <nil>]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

func TestCurveRefuses(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('poor', 'kWh', 0.5)`)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_curve('ana', 3, i, 'u')`+two, "dx_curve: epsilon changes within a group")
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', i)`+two, "dx_curve: blocks changes within a group")
	for _, blocks := range []string{"0", "-1", "10001", "3.0", "''"} {
		d.fails(`SELECT dx_curve('ana', 3, 1, 'u', `+blocks+`)`, "dx_curve: blocks must be a whole number from 1 to 10000, or TEXT: a JSON list of percentiles")
	}
	for _, list := range []string{"50", "[]", "[50", "[null]", `["50"]`, "[50, [90]]", "{}", "d1", "[1e999]", "[" + strings.Repeat("50,", 10_000) + "50]"} {
		d.fails(`SELECT dx_curve('ana', 3, 1, 'u', '`+list+`')`, "dx_curve: blocks: must be a JSON list of 1 to 10000 percentiles, such as [50, 90, 99]")
	}
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', '[0.5, 0.9]')`, "dx_curve: blocks: p is 0.5: percentiles go from 0 to 100, so write 50")
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', '[101]')`, "dx_curve: blocks: p is not in 0..100")
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', 'dh')`, "dx_curve: metric dh: curve is released under d1 only: the number of readings is secret")
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', 'nd1')`, "dx_curve: metric nd1: curve is released under d1 only: the number of readings is secret")
	d.fails(`SELECT dx_curve('ana', 3, 1, 'u', 'dinf')`, "dx_curve: metric dinf: curve is released under d1 only: all readings move at once")
	d.fails(`SELECT dx_curve('poor', 3, 1, 'u')`, "account 'poor' has 0.5/kWh left of 0.5/kWh")
	d.fails(`SELECT dx_radius('curve', 0.95, 1, 'u')`, "dx_radius: aggregate \"curve\" is not one of")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// A text that dx_curve has not released is an error that says so.
func TestCurveReadersRefuse(t *testing.T) {
	d := declared(t)
	const good = `{"m":4,"lo":0,"hi":10,"step":1,"epsilon":1,"edges":[0,2,4],"sums":[3,7]}`
	d.answers(fmt.Sprintf(`SELECT dx_curve_percentile('%s', 50)`, good), `[[3]]`)
	for old, new := range map[string]string{
		`{"m"`: `{"n":4,"m"`, `"m":4,`: ``, `"m":4`: `"m":5`, `"lo":0`: `"lo":"0"`, `"hi":10`: `"hi":-1`, `"step":1`: `"step":3`, `"epsilon":1`: `"epsilon":0`,
		`[0,2,4]`: `[0,4,4]`, `[3,7]`: `[3]`, `7]}`: `7]} x`, `3,7`: `3.5,7`, `{`: `[`,
	} {
		text := strings.Replace(good, old, new, 1)
		for _, call := range []string{`dx_curve_percentile('%s', 50)`, `dx_curve_share('%s', 50)`, `dx_curve_mean('%s', 50, 100)`} {
			name, _, _ := strings.Cut(call, "(")
			d.fails(fmt.Sprintf(`SELECT `+call, text), name+": curve is no release of dx_curve: ")
		}
	}
	d.fails(fmt.Sprintf(`SELECT dx_curve_mean('%s', 50, 49)`, good), "dx_curve_mean: to_p is below from_p")
	d.answers(fmt.Sprintf(`SELECT dx_curve_mean('%s', 0.5, 99.5)`, good), `[[2]]`)
	d.fails(fmt.Sprintf(`SELECT dx_curve_mean('%s', 0.5, 0.9)`, good), "dx_curve_mean: from_p is 0.5: percentiles go from 0 to 100, so write 50")
	d.fails(fmt.Sprintf(`SELECT dx_curve_mean('%s', 5, 149)`, good), "dx_curve_mean: to_p is not in 0..100")
	d.fails(fmt.Sprintf(`SELECT dx_curve_percentile('%s', 0.95)`, good), "dx_curve_percentile: p is 0.95: percentiles go from 0 to 100, so write 95")
	d.fails(`SELECT dx_curve_share(7, 3)`, "dx_curve_share: curve must be TEXT, got INTEGER")
}
