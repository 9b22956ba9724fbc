package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/release"
)

var initCommand = &cli.Command{
	Name: "init", Operands: "DB FILE ..", Min: 2, Max: -1,
	Summary: "a guided start: import, declare, set limits, ask",
	Details: `Imports each FILE as 'geosql import' does, shows what its columns hold, and asks what you have
to decide: the account, the columns to protect, the box or the universe, epsilon, the limits.
A flag answers a question, and without a terminal flags must answer all. Nothing is written
before the last answer: Ctrl-C leaves everything as it was. The declarations are shown, run, and
kept in DB.sql. Nothing is charged. DB may exist; what is declared there is offered.

  geosql init city.db trips.csv --account person --lat lat --lon lon --box Lisbon \
    --epsilon-for 500 --limit 4x`,
	Setup: func(flags *flag.FlagSet) cli.Run {
		t := initTask{step: 1, given: map[string]*string{}}
		registerInit(flags, &t)
		return func(ctx context.Context, operands []string) error {
			t.database, t.files = operands[0], operands[1:]
			return t.run(ctx)
		}
	},
}

// An initTask holds what the command line of the command init says.
type initTask struct {
	database string
	files    []string
	ledger   ledgerFlags
	form     importTask         // how files are read
	given    map[string]*string // the answers that flags give, by the flags' names
	outside  float64            // the largest share of locations or readings that are moved
	step     float64            // of a new domain
	yes      bool

	talk  *dialogue
	known *declarations
}

// answers are the flags that answer a question.
var answers = []struct{ name, usage string }{
	{"into", "create the table `TABLE` (default: the file's name)"},
	{"account", "charge the account that `COLUMN` names, or const:NAME for all rows"},
	{"time", "group by the times in `COLUMN`, or none"},
	{"lat", "protect locations: latitudes are in `COLUMN`, or none"},
	{"lon", "longitudes are in `COLUMN`"},
	{"reading", "protect readings, such as kWh: they are in `COLUMN`, or none"},
	{"box", "locations lie in `PLACE`: a country, a large city, a domain of DB, or SOUTH,WEST,NORTH,EAST"},
	{"epsilon", "plan for releases of a location at `E` per metre"},
	{"epsilon-for", "plan for releases within `METRES` of the true location, 95 % of them"},
	{"limit", "set the limit of every account to `E` per metre, or such as 4x for four releases"},
	{"universe", "readings are `LO,HI,STEP`, or in a universe of DB"},
	{"unit", "readings are in `UNIT`, such as kWh"},
	{"reading-epsilon", "plan for answers about readings at `E` per unit"},
	{"reading-epsilon-for", "plan for sums of readings within `R` units of the true ones, 95 % of them"},
	{"reading-limit", "set the limit of every account to `E` per unit, or such as 4x for four answers"},
	{"record-limit", "set the limit for counts and heat maps to `E` per record, or none"},
	{"window", "limits reopen after `SECONDS`, or such as 30d for days (default never)"},
}

// registerInit defines the flags of the command init.
func registerInit(flags *flag.FlagSet, t *initTask) {
	t.ledger.register(flags, "keep the budgets in the ledger `FILE`, or at a postgres:// URL (default DB-ledger, beside DB)")
	t.form.register(flags)
	for _, a := range answers {
		flags.Func(a.name, a.usage, func(v string) error {
			t.given[a.name] = &v
			return nil
		})
	}
	t.outside = release.DefaultOutside
	shareVar(flags, &t.outside, "outside", "go on if up to `SHARE` of the locations or readings lie outside box or universe (default 0.01)")
	cli.NumberVar(flags, &t.step, "step", "set the step of a new domain's lattice to `METRES`")
	cli.Switch(flags, "yes", "do not ask whether to go on", func() { t.yes = true })
}

// A plan is what is known and decided about a file.
type plan struct {
	importTask // file and table
	data       *cli.DataSet
	imported

	account  string // a column, or const:NAME
	time     string // "": none
	place    *placePlan
	reading  *readingPlan
	limits   []limit
	accounts int64 // how many there are
	mostRows int64 // of one of them
}

// run asks about all files and then writes what was decided.
func (t *initTask) run(ctx context.Context) error {
	if err := t.check(); err != nil {
		return err
	}
	t.talk = newDialogue()
	known, err := readDeclarations(t.database, t.ledger)
	if err != nil {
		return err
	}
	t.known = known
	var plans []*plan
	for _, file := range t.files {
		p, err := t.plan(ctx, file)
		if p != nil && p.data != nil {
			defer p.data.Close()
		}
		if err != nil {
			return err
		}
		plans = append(plans, p)
		t.known.add(p)
	}
	return t.write(ctx, plans)
}

// check refuses wrong arguments.
func (t *initTask) check() error {
	if err := checkDatabase(t.database); err != nil {
		return err
	}
	switch instead := rejectDatabase(t.database); {
	case instead != "":
		return cli.UsageError("init: there is no database " + t.database + "; " + instead)
	case strings.HasPrefix(t.database, ":") || strings.HasPrefix(t.database, "file:"):
		return cli.UsageError("init: the database must be a file, not " + t.database)
	case t.form.header && t.form.noHeader:
		return cli.UsageError("init: -header and -no-header exclude each other")
	case t.given["into"] != nil && len(t.files) > 1:
		return cli.UsageError("init: -into names the table of one FILE only")
	}
	if folder := filepath.Dir(t.database); !isFolder(folder) {
		return fmt.Errorf("init: %s: there is no folder %s", t.database, folder)
	}
	for _, pair := range [][2]string{{"epsilon", "epsilon-for"}, {"reading-epsilon", "reading-epsilon-for"}} {
		if t.given[pair[0]] != nil && t.given[pair[1]] != nil {
			return cli.UsageError("init: give either -" + pair[0] + " or -" + pair[1])
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// plan reads a file, and asks what has to be decided about it.
func (t *initTask) plan(ctx context.Context, file string) (*plan, error) {
	p := &plan{importTask: t.form}
	p.database, p.file, p.table = t.database, file, t.tableName(file)
	if err := t.checkTable(p); err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	if err := p.survey(ctx); err != nil {
		return p, err
	}
	p.showColumns()
	for _, ask := range []func(context.Context, *plan) error{t.askColumns, t.askPlace, t.askReading, t.askLimits} {
		if err := ask(ctx, p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// tableName returns the name of a file's table: its own, up to the first dot.
func (t *initTask) tableName(file string) string {
	if name := t.given["into"]; name != nil {
		return *name
	}
	if path := dataset.FileName(file); path != file { // DB#TABLE
		return file[len(path)+1:]
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return slug(name)
}

// slug returns a name that SQL takes without quotes.
func slug(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(plainLetters.Replace(text))), "_")
	if name == "" || name[0] <= '9' {
		return "data_" + name
	}
	return name
}

var plainLetters = strings.NewReplacer("ã", "a", "á", "a", "Å", "a", "å", "a", "ç", "c", "é", "e", "í", "i", "ô", "o", "ó", "o", "ü", "u")

// checkTable refuses the name of a table that cannot be created.
func (t *initTask) checkTable(p *plan) error {
	switch _, err := os.Stat(dataset.FileName(p.file)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", p.file)
	case sameFile(t.database, dataset.FileName(p.file)):
		return fmt.Errorf("%s is in the database itself: use CREATE TABLE AS", p.file)
	case t.known.tables[strings.ToLower(p.table)]:
		return fmt.Errorf("%s has a table %s already: choose another name with --into TABLE", t.database, p.table)
	}
	return checkTableName(p.table)
}

// survey reads the file and finds out what its columns hold.
func (p *plan) survey(ctx context.Context) (err error) {
	if p.data, err = p.open(ctx); err != nil {
		return err
	}
	kinds, err := givenKinds(p.data, p.types)
	if err != nil {
		return err
	}
	p.form, p.csv = dataset.CSVFormOf(p.data.Reader)
	survey := infer.NewSurvey(p.data.Reader, kinds)
	if err := eachRow(p.data, "reading", survey.Add); err != nil {
		return p.typeError(err)
	}
	p.Description = survey.Description()
	if p.Rows == 0 {
		return fmt.Errorf("%s has no rows", p.file)
	}
	return nil
}

// longestSample is the number of characters of a column's samples that are shown.
const longestSample = 48

// showColumns shows what the columns of the file hold.
func (p *plan) showColumns() {
	cli.Say("%s: %s%s", p.file, count(p.Rows, "row"), p.formText())
	rows := [][]string{{"column", "type", "NULL", "a sample"}}
	for _, c := range p.Columns[:min(len(p.Columns), longestReport)] {
		rows = append(rows, []string{c.Name, strings.ToUpper(c.Kind.String()), fmt.Sprint(c.Nulls), sampleText(c, p.Rows)})
	}
	sayTable(rows, "llrl")
	if more := len(p.Columns) - longestReport; more > 0 {
		cli.Say("  and %s", count(int64(more), "more column"))
	}
}

// sampleText returns some cells of a column, and what a reader should know of it.
func sampleText(c infer.Summary, rows int64) string {
	text := ""
	for _, sample := range c.Samples {
		if runes := []rune(sample); len(runes) > longestSample {
			sample = string(runes[:longestSample]) + ".."
		}
		if text != "" && len(text)+len(sample) > longestSample {
			break
		}
		text = strings.TrimPrefix(text+", "+sample, ", ")
	}
	c.Nulls = 0 // they have a column of their own
	if note := columnText(c, rows); note != "" {
		text += "  (" + note + ")"
	}
	return text
}
