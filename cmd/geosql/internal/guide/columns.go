package guide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// none is the answer that there is no such column or limit.
const none = "none"

// accountNames are names by which the account is guessed.
var accountNames = []string{"account", "person", "user", "user_id", "userid", "meter", "meter_id", "customer", "customer_id", "household", "device", "device_id", "cab", "vehicle", "id", "name"}

// askColumns asks which columns hold the account, the time, the location and the reading.
func (t *Task) askColumns(ctx context.Context, p *plan) error {
	t.talk.tell("Every release is charged to an account: the person, household or device that a row is about. At each question, help explains it and back returns to the one before.")
	err := t.talk.settle(ctx, question{flag: "account", text: "Column of the account", open: true, preset: p.guess(accountNames, isAccount),
		help:   "Whom is a row about? All rows of one account are protected together and have one budget. Someone with two accounts has twice as much charged, so prefer a person's number to a trip's. const:NAME charges all rows to one account.",
		need:   "use --account COLUMN (" + p.names() + ") or --account const:NAME",
		accept: func(answer string) (err error) { p.account, err = p.accountColumn(answer); return err }})
	if err != nil {
		return err
	}
	err = t.talk.settle(ctx, question{flag: "time", text: "Column of the time, or none", preset: cmp.Or(p.guessTime(), none),
		help: "Questions by month and hour need the time of a row: 2026-03-01 12:00, or seconds or milliseconds since 1970, read as UTC. Write " +
			"the distance of another time zone behind the column: t +05:30 for India, t -03:00 for Brasilia. Zones with summer time need a column of their own in the file.",
		accept: func(answer string) error { return t.takeTime(p, answer) }})
	if err != nil {
		return err
	}
	if err := t.askLocation(ctx, p); err != nil {
		return err
	}
	return t.askReadingColumn(ctx, p)
}

// timeZone is the distance from UTC behind the name of a column.
var timeZone = regexp.MustCompile(`^(.*\S)\s+([-+](?:0\d|1[0-4]):[0-5]\d)$`)

// takeTime takes the column of the time, with the distance of its time zone from UTC.
func (t *Task) takeTime(p *plan, answer string) error {
	column, zone := answer, ""
	if m := timeZone.FindStringSubmatch(answer); m != nil && p.find(answer) < 0 {
		column, zone = m[1], m[2]
	}
	name, err := p.optional(column, nil)
	if err != nil {
		return err
	}
	p.time, p.zone = name, zone
	c := p.columnNamed(name)
	if c == nil {
		return nil
	}
	unit := load.UnixTime(*c)
	switch {
	case unit != "":
		t.talk.say("times in %s: %s since 1970, months and hours %s", name, unit, cmp.Or(zone, "in UTC"))
	case zone != "" && c.Dates == infer.Times:
		t.talk.say("times in %s: UTC, months and hours %s", name, zone)
	case zone != "":
		return fmt.Errorf("column %s has no times that functions read, so a time zone does nothing", name)
	}
	return nil
}

// askLocation asks which columns hold the location.
func (t *Task) askLocation(ctx context.Context, p *plan) error {
	var lat, lon string
	given := t.Given["lat"]
	if given == nil && t.Given["lon"] != nil {
		return cli.UsageError("init: -lon needs -lat")
	}
	preset := none
	if t.talk.guesses() && given == nil {
		preset = cmp.Or(p.guess(load.LatNames, nil), none)
	}
	err := t.talk.settle(ctx, question{flag: "lat", text: "Column of the latitude, or none", preset: preset,
		help:   "Latitudes are degrees of WGS 84 from -90 (south) to 90 (north). Locations are released with noise; none: there are no locations to protect.",
		accept: func(answer string) (err error) { lat, err = p.optional(answer, p.isNumber); return err }})
	if err != nil || lat == "" {
		return err
	}
	err = t.talk.settle(ctx, question{flag: "lon", text: "Column of the longitude", preset: p.guess(load.LonNames, nil), open: true,
		need: "use --lon COLUMN",
		help: "Longitudes are degrees of WGS 84 from -180 (west) to 180 (east).",
		accept: func(answer string) (err error) {
			if lon, err = p.column(answer, p.isNumber); err == nil && lon == lat {
				err = errors.New("that is the latitude")
			}
			return err
		}})
	p.place = &placePlan{lat: lat, lon: lon}
	return err
}

// askReadingColumn asks which column holds readings.
func (t *Task) askReadingColumn(ctx context.Context, p *plan) error {
	preset := none
	if t.talk.guesses() && p.place == nil {
		preset = p.guessReading()
	}
	return t.talk.settle(ctx, question{flag: "reading", text: "Column of a reading to protect, such as kWh, or none", preset: preset,
		help: "A reading is a number about the account, such as energy, a temperature or a price. Sums, means and medians of readings are answered with noise. none: there are no readings to protect.",
		accept: func(answer string) error {
			x, err := p.optional(answer, p.isNumber)
			switch {
			case err != nil:
				return err
			case x == "" && p.place == nil && !t.talk.asks:
				return cli.UsageError("no columns to protect: use --lat COLUMN and --lon COLUMN, or --reading COLUMN (" + p.names() + ")" + t.missing("lat", "lon", "reading"))
			case x == "" && p.place == nil:
				return errors.New("without a location and a reading there is nothing to protect: name a column")
			case x != "":
				p.reading = &readingPlan{column: x}
			}
			return nil
		}})
}

// names lists the columns of the file.
func (p *plan) names() string {
	var names []string
	for _, c := range p.Columns {
		names = append(names, printable.Text(c.Name))
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], "..")
	}
	return "columns: " + strings.Join(names, ", ")
}

// find returns the number of a column, or -1. As in SQL, case does not count.
func (p *plan) find(name string) int {
	return slices.IndexFunc(p.Columns, func(c infer.Summary) bool { return strings.EqualFold(c.Name, name) })
}

// columnNamed returns the column of that name.
func (p *plan) columnNamed(name string) *infer.Summary {
	if i := p.find(name); i >= 0 {
		return &p.Columns[i]
	}
	return nil
}

// column returns the name of a column that passes a test.
func (p *plan) column(name string, test func(infer.Summary) error) (string, error) {
	i := p.find(name)
	if i < 0 {
		var names []string
		for _, c := range p.Columns {
			names = append(names, c.Name)
		}
		text := fmt.Sprintf("there is no column %s (%s)", name, p.names())
		if near := cli.Nearest(name, names); near != "" {
			text += "; did you mean " + near + "?"
		}
		return "", errors.New(text)
	}
	if test != nil {
		if err := test(p.Columns[i]); err != nil {
			return "", err
		}
	}
	return p.Columns[i].Name, nil
}

// optional returns the name of a column that passes a test, or "" for none.
func (p *plan) optional(name string, test func(infer.Summary) error) (string, error) {
	if strings.EqualFold(name, none) && p.find(name) < 0 {
		return "", nil
	}
	return p.column(name, test)
}

// accountColumn returns the account that an answer names: a column, or const:NAME.
func (p *plan) accountColumn(answer string) (string, error) {
	if name, ok := strings.CutPrefix(answer, "const:"); ok {
		if name == "" || name == "*" {
			return "", errors.New("an account has a name, and not *")
		}
		return answer, nil
	}
	return p.column(answer, isAccount)
}

// isAccount returns an error if a column cannot name accounts.
func isAccount(c infer.Summary) error {
	if c.Kind == dataset.Real {
		return fmt.Errorf("column %s has decimal fractions, and accounts are TEXT or INTEGER: --type %s=TEXT reads it as text", c.Name, c.Name)
	}
	return nil
}

// isNumber returns an error if a column cannot hold the numbers of a secret.
func (p *plan) isNumber(c infer.Summary) error {
	switch {
	case c.Nulls == p.Rows:
		return fmt.Errorf("column %s has only NULL", c.Name)
	case c.Kind != dataset.Text:
		return nil
	case c.Misfit == nil && decimalComma.MatchString(c.Samples[0]):
		return fmt.Errorf("column %s is TEXT, with decimal commas such as %s: they are read in files separated by semicolons or tabs, so save the file like that", c.Name, infer.Quote(c.Samples[0]))
	case c.Misfit == nil:
		return fmt.Errorf("column %s has no numbers: a cell of it is %s", c.Name, infer.Quote(c.Samples[0]))
	}
	return fmt.Errorf("column %s is TEXT %s: correct such cells in the file", c.Name, load.MisfitText(c.Misfit))
}

var decimalComma = regexp.MustCompile(`^ *-?[0-9]+,[0-9]+ *$`)

// guess returns the first column with one of the names that passes a test, or "".
func (p *plan) guess(names []string, test func(infer.Summary) error) string {
	for _, name := range names {
		if i := p.find(name); i >= 0 && (test == nil || test(p.Columns[i]) == nil) {
			return p.Columns[i].Name
		}
	}
	return ""
}

// guessTime returns the first column that holds times, or "".
func (p *plan) guessTime() string {
	for _, c := range p.Columns {
		if c.Dates == infer.Times {
			return c.Name
		}
	}
	for _, c := range p.Columns {
		if load.NamesTime(c.Name) && load.UnixTime(c) != "" {
			return c.Name
		}
	}
	return ""
}

// guessReading returns the column that most likely holds readings, or "".
func (p *plan) guessReading() string {
	for _, c := range p.Columns {
		if len(offers(c.Name)) > 0 && p.isNumber(c) == nil {
			return c.Name
		}
	}
	for _, c := range p.Columns {
		if c.Kind == dataset.Real && c.Name != p.time {
			return c.Name
		}
	}
	return ""
}
