// Package guide is the guided start: it surveys files, asks for decisions about them, and then imports them and declares
// the decisions. It imports load, session and store, and the mechanisms for their accuracy. Start at [Task.Run].
package guide

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"

	"golang.org/x/text/unicode/norm"
)

// A Task holds the command line of the command init.
type Task struct {
	Database string
	Files    []string
	Ledger   store.LedgerFlags
	Form     load.Task          // how files are read
	Given    map[string]*string // the answers that flags give, by the flags' names
	Outside  float64            // the largest share of locations or readings that are moved
	Step     float64            // of a new domain
	Yes      bool               // take the presets, and do not ask

	talk  *dialogue
	known *declarations
	read  map[string]*plan // files that have been surveyed, without decisions
}

// A plan holds the facts and decisions about a file.
type plan struct {
	load.Task // file and table
	data      *cli.DataSet
	load.Result

	account  string // a column, or const:NAME
	time     string // "": none
	zone     string // such as +01:00, "" for UTC
	place    *placePlan
	reading  *readingPlan
	limits   []limit
	accounts int64 // how many there are
	mostRows int64 // of one of them
}

// Run asks about all files and then carries out the plans.
func (t *Task) Run(ctx context.Context) error {
	if err := t.check(); err != nil {
		return err
	}
	t.talk, t.read = newDialogue(t), map[string]*plan{}
	defer func() {
		for _, p := range t.read {
			p.data.Close()
		}
	}()
	for {
		if err := t.decide(ctx); err != errBack {
			return err
		}
		t.talk.given = 0
	}
}

// decide asks about all files and then carries out the plans.
func (t *Task) decide(ctx context.Context) error {
	known, err := readDeclarations(t.Database, t.Ledger)
	if err != nil {
		return err
	}
	t.known = known
	var plans []*plan
	for _, file := range t.Files {
		p, err := t.plan(ctx, file)
		if err != nil {
			return err
		}
		plans = append(plans, p)
		t.known.add(p)
	}
	return t.write(ctx, plans)
}

// check refuses wrong arguments.
func (t *Task) check() error {
	if err := store.CheckName(t.Database); err != nil {
		return err
	}
	switch instead := store.Reject(t.Database); {
	case instead != "":
		return cli.UsageError("init: there is no database " + t.Database + "; " + instead)
	case strings.HasPrefix(t.Database, ":") || strings.HasPrefix(t.Database, "file:"):
		return cli.UsageError("init: the database must be a file, not " + t.Database)
	case t.Form.Header && t.Form.NoHeader:
		return cli.UsageError("init: -header and -no-header exclude each other")
	case t.Given["into"] != nil && len(t.Files) > 1:
		return cli.UsageError("init: -into names the table of one FILE only")
	}
	if folder := filepath.Dir(t.Database); !isFolder(folder) {
		return fmt.Errorf("init: %s: there is no folder %s", t.Database, folder)
	}
	for _, pair := range [][2]string{{"epsilon", "epsilon-for"}, {"reading-epsilon", "reading-epsilon-for"}} {
		if t.Given[pair[0]] != nil && t.Given[pair[1]] != nil {
			return cli.UsageError("init: give either -" + pair[0] + " or -" + pair[1])
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// plan reads a file, and asks for the decisions about it.
func (t *Task) plan(ctx context.Context, file string) (*plan, error) {
	if err := t.checkTable(file); err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	if t.read[file] == nil {
		p, err := t.survey(ctx, file)
		if err != nil {
			return nil, err
		}
		t.read[file] = p
	}
	p := *t.read[file]
	t.showColumns(&p)
	for _, ask := range []func(context.Context, *plan) error{t.askColumns, t.askPlace, t.askReading, t.askLimits} {
		if err := ask(ctx, &p); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// tableName returns the name of a file's table: its own, up to the first dot.
func (t *Task) tableName(file string) string {
	if name := t.Given["into"]; name != nil {
		return *name
	}
	if path := dataset.FileName(file); path != file { // DB#TABLE
		return file[len(path)+1:]
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return slug(name)
}

// slug returns a name that SQL takes without quotes. Letters lose their accents.
func slug(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return '_'
	}, strings.ToLower(norm.NFD.String(text))), "_")
	if name == "" || name[0] <= '9' {
		return "data_" + name
	}
	return name
}

// checkTable refuses the name of a table that cannot be created.
func (t *Task) checkTable(file string) error {
	table := t.tableName(file)
	switch _, err := os.Stat(dataset.FileName(file)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", file)
	case store.SameFile(t.Database, dataset.FileName(file)):
		return fmt.Errorf("%s is in the database itself: use CREATE TABLE AS", file)
	case t.known.tables[strings.ToLower(table)]:
		return fmt.Errorf("%s has a table %s already: choose another name with --into TABLE", t.Database, table)
	}
	return load.CheckTableName(table)
}

// survey reads a file and describes its columns.
func (t *Task) survey(ctx context.Context, file string) (_ *plan, err error) {
	p := &plan{Task: t.Form}
	p.Database, p.File, p.Table = t.Database, file, t.tableName(file)
	if p.data, err = p.Open(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.data.Close()
		}
	}()
	kinds, err := load.GivenKinds(p.data, p.Types)
	if err != nil {
		return nil, err
	}
	p.Form, p.CSV = dataset.CSVFormOf(p.data.Reader)
	survey := infer.NewSurvey(p.data.Reader, kinds)
	if err := load.EachRow(p.data, "reading", survey.Add); err != nil {
		return nil, p.TypeError(err)
	}
	p.Description = survey.Description()
	if p.Rows == 0 {
		return nil, fmt.Errorf("%s has no rows", p.File)
	}
	return p, nil
}

// longestSample is the number of characters of a column's samples that are shown.
const longestSample = 48

// showColumns shows the contents of the file's columns, and remarks about them.
func (t *Task) showColumns(p *plan) {
	t.talk.say("%s: %s%s", p.File, cli.Count(p.Rows, "row"), p.FormText())
	rows, notes := [][]string{{"column", "type", "NULL", "a sample"}}, []string{}
	for _, c := range p.Columns[:min(len(p.Columns), load.LongestReport)] {
		rows = append(rows, []string{c.Name, strings.ToUpper(c.Kind.String()), fmt.Sprint(c.Nulls), sampleText(c)})
		c.Nulls = 0 // they have a column of their own
		if note := load.ColumnText(c, p.Rows); note != "" {
			notes = append(notes, c.Name+": "+note)
		}
	}
	t.talk.sayTable(rows, "llrl")
	if more := len(p.Columns) - load.LongestReport; more > 0 {
		t.talk.say("  and %s", cli.Count(int64(more), "more column"))
	}
	for _, note := range notes {
		t.talk.say("%s", note)
	}
}

// sampleText returns some cells of a column.
func sampleText(c infer.Summary) string {
	text := ""
	for _, sample := range c.Samples {
		if text != "" && len(text)+len(sample) > longestSample {
			break
		}
		text = strings.TrimPrefix(text+", "+sample, ", ")
	}
	return text
}
