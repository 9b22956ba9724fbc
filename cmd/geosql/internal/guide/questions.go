package guide

import (
	"cmp"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// An example is a question that runs once the file is imported.
type example struct {
	about  string
	flags  string // of the command
	sql    string // "": the command is given whole
	after  string // the end of the command, or all of it
	unit   budget.Unit
	charge *big.Rat // of each account; nil: nothing
}

// showQuestions shows three questions to ask next, as commands. Together they stay below the limits.
func (t *Task) showQuestions(p *plan) {
	cli.Say("")
	cli.Say("Three questions to ask next about %s:", p.Table)
	for _, e := range t.examples(p) {
		cli.Say("")
		for _, line := range e.comment() {
			cli.Say("# %s", line)
		}
		sayLines(e.command(t.commandTail()))
	}
}

// commandTail returns the database as a shell takes it, with the ledger if it is not beside it.
func (t *Task) commandTail() string {
	tail := cli.ShellWord(t.Database)
	if t.Ledger.File != "" {
		tail = "--ledger " + cli.ShellWord(t.Ledger.File) + " " + tail
	}
	return tail
}

// comment returns the lines above a command.
func (e example) comment() []string {
	lines := cli.Wrap(e.about, columns-2)
	if e.charge == nil {
		return append(lines, "(costs nothing)")
	}
	return append(lines, "(charges each account "+cli.FormatRational(e.charge)+" per "+cmp.Or(unitNames[e.unit], string(e.unit))+")")
}

// unitNames are names of units in words.
var unitNames = map[budget.Unit]string{budget.Metre: "metre"}

// command returns the command that asks the question.
func (e example) command(tail string) string {
	command := calledAs() + " " + e.flags + tail
	if e.sql != "" {
		command += ` "` + cli.InDoubleQuotes(e.sql) + `"`
	}
	return command + e.after
}

// calledAs returns the command as it was called, such as ./geosql, so that the shown commands run.
func calledAs() string {
	if called := os.Args[0]; strings.TrimSuffix(filepath.Base(called), ".exe") == session.Program {
		return cli.ShellWord(called)
	}
	return session.Program
}

// examples returns three questions: the paid ones that the limits allow, and then free ones.
func (t *Task) examples(p *plan) (chosen []example) {
	all := p.paidExamples()
	first := all[0]
	left := map[budget.Unit]*big.Rat{}
	for _, l := range p.limits {
		left[l.unit] = new(big.Rat).Set(l.amount)
	}
	all = append(all,
		example{about: "What would the first question cost everybody?", flags: "cost ", sql: first.sql},
		example{about: "What has been charged to whom? For the owner only", flags: "budget "})
	for _, e := range all {
		if e.charge != nil {
			have := left[e.unit]
			if have == nil || have.Cmp(e.charge) < 0 {
				continue
			}
			have.Sub(have, e.charge)
		}
		if chosen = append(chosen, e); len(chosen) == 3 {
			break
		}
	}
	return chosen
}

// paidExamples returns questions about locations and readings, in turn if there are both.
func (p *plan) paidExamples() (all []example) {
	var readings, places []example
	if p.reading != nil {
		readings = p.readingExamples()
	}
	if p.place != nil {
		places = p.placeExamples()
	}
	for i := range max(len(readings), len(places)) {
		if i < len(readings) {
			all = append(all, readings[i])
		}
		if i < len(places) {
			all = append(all, places[i])
		}
	}
	return all
}

// payer returns the account as SQL has it.
func (p *plan) payer() string {
	if name, ok := strings.CutPrefix(p.account, "const:"); ok {
		return sqltext.Quote(name)
	}
	return sqlite.Name(p.account)
}

// where returns the condition that leaves out rows without an account, which functions refuse, and rows with NULL in
// other columns.
func (p *plan) where(others ...string) string {
	var conditions []string
	for _, name := range append([]string{p.account}, others...) {
		if c := p.columnNamed(name); c != nil && c.Nulls > 0 {
			conditions = append(conditions, sqlite.Name(name)+" IS NOT NULL")
		}
	}
	if conditions == nil {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// placeExamples returns questions about locations.
func (p *plan) placeExamples() []example {
	pl := p.place
	eps, domain := cli.FormatRational(pl.epsilon), sqltext.Quote(pl.box.name)
	within := fmt.Sprintf("geoind_radius(%s, 0.95, %s)", eps, domain)
	noisy := fmt.Sprintf("geoind_laplace(t.who, t.lat, t.lon, %s, %s) AS g", eps, domain)
	one := p.oneOfEach()
	all := []example{
		{about: "Where are three of them, within how many metres?",
			sql:  fmt.Sprintf("SELECT t.who, g.lat, g.lon,\n         %s AS within_m\n  FROM (%s LIMIT 3) AS t,\n       %s", within, one, noisy),
			unit: budget.Metre, charge: pl.epsilon},
		{about: "Where are most of them? The fullest cells of a heat map",
			sql: fmt.Sprintf("SELECT f.value ->> '$.properties.count' AS people,\n         dx_radius('count', 0.95, 0.5, NULL) AS within,\n"+
				"         f.value ->> '$.geometry.coordinates[0][0]' AS corner\n"+
				"  FROM (SELECT dx_heatmap(who, lat, lon, 1, %s, %s) AS map\n        FROM (%s)),\n"+
				"       json_each(map, '$.features') AS f ORDER BY 1 DESC LIMIT 5", domain, decimal.Format(cellOf(pl)), one),
			unit: budget.Record, charge: big.NewRat(1, 1)},
		{about: "A map of one location of each", flags: "-geojson ",
			sql:   fmt.Sprintf("SELECT g.lat, g.lon,\n         %s AS within_m\n  FROM (%s) AS t,\n       %s", within, one, noisy),
			after: " > " + cli.ShellWord(p.Table+".geojson"), unit: budget.Metre, charge: pl.epsilon},
		{about: "What is the middle of all locations?",
			sql: fmt.Sprintf("SELECT dx_centroid(%s, %s, %s, %s, %s) AS middle,\n         %s + %s AS within_m\n  FROM %s%s",
				p.payer(), sqlite.Name(pl.lat), sqlite.Name(pl.lon), eps, domain, within, decimal.Format(pl.box.stepM), sqlite.Name(p.Table), p.where()),
			unit: budget.Metre, charge: pl.epsilon},
	}
	if p.accounts < fewest {
		all = slices.DeleteFunc(all, func(e example) bool { return e.unit == budget.Record })
	}
	return all
}

// fewest is the number of people below which a heat map shows noise: cells are off by 6.
const fewest = 100

// oneOfEach returns the query of one location of each account.
func (p *plan) oneOfEach() string {
	columns := as(p.payer(), "who") + ", " + as(sqlite.Name(p.place.lat), "lat") + ", " + as(sqlite.Name(p.place.lon), "lon")
	return "SELECT " + columns + "\n        FROM " + sqlite.Name(p.Table) + p.where(p.place.lat, p.place.lon) + " GROUP BY 1"
}

// as returns an expression under a name.
func as(expression, name string) string {
	if expression == name {
		return name
	}
	return expression + " AS " + name
}

// cellOf returns the side of a heat map's cells: a tenth of the box, or less.
func cellOf(pl *placePlan) float64 {
	low, high := pl.domain.Extent()
	side := float64(max(high.I-low.I, high.J-low.J)) * pl.box.stepM
	return max(nice(side/10), pl.box.stepM)
}

// readingExamples returns questions about readings.
func (p *plan) readingExamples() []example {
	r := p.reading
	eps, universe, unit := cli.FormatRational(r.epsilon), sqltext.Quote(r.declared.name), r.universe.Unit()
	x, who, table := sqlite.Name(r.column), p.payer(), sqlite.Name(p.Table)
	args := fmt.Sprintf("(%s, %s, %s, %s)", who, x, eps, universe)
	examples := []example{}
	if month, hour := p.timeParts(); month != "" {
		examples = append(examples, example{about: "The mean of each month, with its error bar",
			sql:  fmt.Sprintf("SELECT month, mean, dx_within(mean) AS within\n  FROM (SELECT %s AS month,\n               dx_avg%s AS mean\n        FROM %s%s GROUP BY 1)", month, args, table, p.where()),
			unit: unit, charge: r.epsilon})
		if hour != "" {
			examples = append(examples, example{about: "The hours of the day, those with the highest sums first",
				sql:  fmt.Sprintf("SELECT hour, total, dx_within(total) AS within\n  FROM (SELECT %s AS hour,\n               dx_sum%s AS total\n        FROM %s%s GROUP BY 1)\n  ORDER BY total DESC", hour, args, table, p.where()),
				unit: unit, charge: r.epsilon})
		}
	}
	return append(examples,
		example{about: "How many accounts are there?",
			sql:  fmt.Sprintf("SELECT dx_accounts(%s, 1) AS accounts,\n         dx_radius('count', 0.95, 1, NULL) AS within\n  FROM %s%s", who, table, p.where()),
			unit: budget.Record, charge: big.NewRat(1, 1)},
		example{about: "The sum and the mean of all readings",
			sql:  fmt.Sprintf("SELECT total, dx_within(total) AS total_within,\n         mean, dx_within(mean) AS mean_within\n  FROM (SELECT dx_sum%s AS total,\n               dx_avg%s AS mean\n        FROM %s%s)", args, args, table, p.where()),
			unit: unit, charge: times(r.epsilon, 2)},
		example{about: "The mean of all readings",
			sql:  fmt.Sprintf("SELECT mean, dx_within(mean) AS within\n  FROM (SELECT dx_avg%s AS mean\n        FROM %s%s)", args, table, p.where()),
			unit: unit, charge: r.epsilon})
}

// timeParts returns SQL for the month and the hour of a row, "" where the times do not have them.
func (p *plan) timeParts() (month, hour string) {
	c := p.columnNamed(p.time)
	if c == nil {
		return "", ""
	}
	name, modifiers := sqlite.Name(c.Name), ""
	unit := load.UnixTime(*c)
	switch {
	case c.Dates == infer.Times && p.zone == "":
		month = "substr(" + name + ", 1, 7)"
		if len(c.Samples) > 0 && len(c.Samples[0]) > len("2026-03-01") {
			hour = "substr(" + name + ", 12, 2)"
		}
		return month, hour
	case c.Dates == infer.Times:
	case unit == "":
		return "", ""
	default:
		modifiers = ", 'unixepoch'"
	}
	if unit == "milliseconds" {
		name += " / 1000"
	}
	if p.zone != "" {
		modifiers += ", '" + p.zone + "'"
	}
	part := func(form string) string { return "strftime('" + form + "', " + name + modifiers + ")" }
	return part("%Y-%m"), part("%H")
}
