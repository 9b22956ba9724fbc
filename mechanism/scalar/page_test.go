package scalar

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
)

// update writes the tables of ratios into the page: `go test ./mechanism/scalar -run RatiosOfThePage -update`.
var update = flag.Bool("update", false, "write the tables of ratios in docs/accuracy.md")

const accuracyPage = "../../docs/accuracy.md"

// The page has the ratios by which the ways under d1 are chosen, and maxima under dh aimed.
func TestRatiosOfThePage(t *testing.T) {
	page, err := os.ReadFile(accuracyPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, table := range []string{ratiosOfWays(t), ratiosOfMaxima(t)} {
		head := table[:strings.Index(table, "|---")]
		from := strings.Index(text, head)
		if from < 0 {
			t.Fatalf("%s has no table that begins with\n%s", accuracyPage, head)
		}
		upTo := strings.Index(text[from:]+"\n\n", "\n\n") + 1
		if *update {
			text = text[:from] + table + text[from+upTo:]
		} else if text[from:from+upTo] != table {
			t.Errorf("%s has other ratios (-update writes them):\n%s", accuracyPage, table)
		}
	}
	if *update {
		if err := os.WriteFile(accuracyPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ratiosOfWays returns the table of ways, for a universe of 10,001 values.
func ratiosOfWays(t *testing.T) string {
	u := universe(t, 0, 10, 0.001)
	var b strings.Builder
	b.WriteString("| p | readings | epsilon | even | near lo | near hi | lognormal | chosen |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range []string{"0", "50", "95", "99", "100"} {
		for _, m := range []int{10, 48, 1488, 77_821} {
			for _, eps := range []string{"0.1", "1", "5"} {
				l := query(t, percentileOf(rational(p)), u, budget.D1, rational(eps)).scored()
				fmt.Fprintf(&b, "| %s | %d | %s |", p, m, eps)
				for _, errs := range l.errors(m) {
					fmt.Fprintf(&b, " %s |", listed(ratios(errs)))
				}
				fmt.Fprintf(&b, " %s |\n", wayNames[l.way(m)])
			}
		}
	}
	return b.String()
}

// ratiosOfMaxima returns the table of maxima: the worst ratio at the largest rank and inside, and how far inside.
func ratiosOfMaxima(t *testing.T) string {
	all := []string{"0.1", "0.5", "1", "5"}
	var b strings.Builder
	b.WriteString("| values | " + strings.Join(all, " | ") + " |\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, last := range []float64{1, 10, 100, 1000, 10_000, 100_000, 200_000, 1_000_000} {
		u := universe(t, 0, last, 1)
		fmt.Fprintf(&b, "| %s |", decimal.Format(last+1))
		for _, eps := range all {
			l := query(t, Max, u, budget.DH, rational(eps)).scored()
			var worst [2]float64
			_, cases := maximaInside(u, l.noise.rate)
			for _, errs := range cases {
				for i, r := range ratios(errs) {
					worst[i] = max(worst[i], r)
				}
			}
			fmt.Fprintf(&b, " %s: %d |", listed(worst[:]), l.inside)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// listed returns numbers with two digits.
func listed(numbers []float64) string {
	var all []string
	for _, x := range numbers {
		text := strconv.FormatFloat(x, 'g', 2, 64)
		if rounded, err := strconv.ParseFloat(text, 64); err == nil {
			text = decimal.Format(rounded)
		}
		all = append(all, text)
	}
	return strings.Join(all, " / ")
}
