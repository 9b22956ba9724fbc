package audit

import (
	"fmt"
	"regexp"
	"strings"
)

// Counts have geometric noise of rate epsilon, and those of a histogram half of that. The loss is attained.
func attacksOnCounts(register func(...attack)) {
	count := func(function, pair, epsilon string, x, y []string) attack {
		a := aggregateReadings(attack{
			function: function, pair: pair, inputs: [2][]string{x, y},
			answer: function + "(account, " + epsilon + ")", unit: "record", claim: pure(1), grid: whole,
		}).more()
		a.columns = "account"
		return a
	}
	histogram := func(u universe, pair, epsilon string, bins int, x, y []string) attack {
		settings := fmt.Sprintf("%s, '%s', %d", epsilon, u.name, bins)
		return aggregate("dx_histogram", u, pair, settings, 1, x, y).record().on(u.histogram(bins))
	}
	register(
		count("dx_count", "a row more", "2", []string{"{ben}", "{ben}", "{cem}", "{cem}"}, []string{"{ben}", "{ben}", "{cem}", "{cem}", "{ana}"}),
		count("dx_count", "the first row", "2", []string{"NULL"}, []string{"NULL", "{ana}"}),
		count("dx_count", "one of several rows, under a small epsilon", "0.1", []string{"{ben}", "{ben}", "{ben}"}, []string{"{ben}", "{ben}", "{ben}", "{ana}"}),
		count("dx_count", "three rows of one account", "0.8", []string{"{ben}", "{ben}"}, []string{"{ben}", "{ben}", "{ana}", "{ana}", "{ana}"}),

		count("dx_accounts", "an account more, with three rows", "2", []string{"{ben}", "{ben}", "{cem}"}, []string{"{ben}", "{ben}", "{cem}", "{ana}", "{ana}", "{ana}"}),
		count("dx_accounts", "the first account", "2", []string{"NULL"}, []string{"NULL", "{ana}"}),

		histogram(units, "a reading is replaced, and moves from bin to bin", "1.6", 3, []string{"{ana}, 0", "{ben}, 5"}, []string{"{ana}, 10", "{ben}, 5"}),
		histogram(units, "a reading is replaced in full bins", "2.5", 2,
			[]string{"{ana}, 0", "{ben}, 0", "{ben}, 1", "{ben}, 9", "{ben}, 9"}, []string{"{ana}, 10", "{ben}, 0", "{ben}, 1", "{ben}, 9", "{ben}, 9"}),
		histogram(tenths, "a reading more in an empty bin", "2", 11, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 0.5001"}).more(),
		histogram(units, "a reading more in a full bin", "2", 1, []string{"{ben}, 1", "{ben}, 2"}, []string{"{ben}, 1", "{ben}, 2", "{ana}, 1e300"}).more(),
		histogram(across, "neighbouring values on both sides of a bin's border, under a small epsilon", "0.2", 2,
			[]string{"{ana}, -0.5", "{ben}, -3", "{ben}, -3", "{ben}, 3", "{ben}, 3"}, []string{"{ana}, 0.5", "{ben}, -3", "{ben}, -3", "{ben}, 3", "{ben}, 3"}),
	)
}

// histogram returns whether an answer is a histogram of the universe: all but its counts is public.
func (u universe) histogram(bins int) func(row []any) bool {
	bin := `\{"lo":-?[\d.]+,"hi":-?[\d.]+,"count":(0|-?[1-9]\d*)\}`
	shape := regexp.MustCompile(`^\[` + bin + strings.Repeat(","+bin, bins-1) + `\]$`)
	return func(row []any) bool {
		text, ok := row[0].(string)
		return ok && shape.MatchString(text)
	}
}
