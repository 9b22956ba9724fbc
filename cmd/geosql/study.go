package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A study measures mechanisms on recorded traces and prints a row for each
// configuration as soon as it is known.
type study interface {
	register(fs *flag.FlagSet)     // defines its flags, and sets their defaults
	check() error                  // refuses flags that the study itself would not look at
	run(ctx context.Context) error // with what the flags say
}

// studies are made new for each use.
var studies = map[string]func() study{
	"adversary":  func() study { return new(adversaryStudy) },
	"census":     func() study { return new(censusStudy) },
	"cip":        func() study { return new(cipStudy) },
	"lbs":        func() study { return new(lbsStudy) },
	"meters":     func() study { return new(metersStudy) },
	"optimal":    func() study { return new(optimalStudy) },
	"pim":        func() study { return new(pimStudy) },
	"predictive": func() study { return new(predictiveStudy) },
}

// studyNames lists the studies for people.
func studyNames() string {
	return strings.Join(slices.Sorted(maps.Keys(studies)), " or ")
}

// studyFlags are those of the command study. Which flags there are, and what they
// mean, is known with the study's name, and flags may come before it: until then
// they wait.
type studyFlags struct {
	waiting []studyFlag
	chosen  study
}

type studyFlag struct{ name, value string }

// register defines the flags of all studies, and of the command release, which shares
// some of their names.
func (f *studyFlags) register(fs *flag.FlagSet) {
	wait := func(known *flag.Flag) {
		if fs.Lookup(known.Name) == nil {
			fs.Var(waitingValue{known, f}, known.Name, "")
		}
	}
	forEachStudyFlag(wait)
	flagsOfStudy(new(releaseTask)).VisitAll(wait)
}

func forEachStudyFlag(do func(*flag.Flag)) {
	for _, name := range slices.Sorted(maps.Keys(studies)) {
		flagsOfStudy(studies[name]()).VisitAll(do)
	}
}

// studyFlagNames are the flags that some study has.
func studyFlagNames() (names []string) {
	forEachStudyFlag(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

func flagsOfStudy(s study) *flag.FlagSet {
	fs := flag.NewFlagSet("study", flag.ContinueOnError)
	s.register(fs)
	return fs
}

// A waitingValue notes the value of a flag. A flag that takes none in one study
// takes none in the others.
type waitingValue struct {
	known *flag.Flag
	flags *studyFlags
}

func (v waitingValue) String() string { return "" }

func (v waitingValue) Set(value string) error {
	v.flags.waiting = append(v.flags.waiting, studyFlag{v.known.Name, value})
	return nil
}

func (v waitingValue) IsBoolFlag() bool { return takesNoValue(v.known) }

// choose picks a study by its name and gives it the flags.
func (f *studyFlags) choose(name string) error {
	start, ok := studies[name]
	if !ok {
		return usageError("study: there is no study " + name + ", only " + studyNames())
	}
	return f.give(start(), "study "+name)
}

// give gives the flags to what a command is about to run.
func (f *studyFlags) give(s study, command string) error {
	f.chosen = s
	fs, given := flagsOfStudy(f.chosen), repeats{}
	for _, x := range f.waiting {
		known := fs.Lookup(x.name)
		if known == nil {
			return usageError(command + " takes no flag -" + x.name)
		}
		if err := given.add(known); err != nil {
			return usageError(err.Error())
		}
		if err := fs.Set(x.name, x.value); err != nil {
			return usageError(fmt.Sprintf("invalid value %q for flag -%s: %v", x.value, x.name, err))
		}
	}
	return f.chosen.check()
}

// decimal prints a measurement, and nothing where there was nothing to measure.
func decimal(x float64, decimals int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// rounded prints a setting with as many decimals as it needs.
func rounded(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// A studyTable prints the rows of a study, each complete, and meanwhile on a
// terminal how much is done.
type studyTable struct {
	line *terminalLine
	out  *bufio.Writer
}

// newStudyTable prints the names of the columns.
func newStudyTable(head string) (*studyTable, error) {
	t := &studyTable{newTerminalLine(), bufio.NewWriter(os.Stdout)}
	return t, t.put(head)
}

func (t *studyTable) put(row string) error {
	t.line.clear()
	t.out.WriteString(row + "\n")
	return t.out.Flush()
}

func (t *studyTable) progress(done, total int) {
	t.line.show("measuring: %.1f %%", 100*float64(done)/float64(total))
}

// printRows prints the rows of a study as they are found, and returns them. run runs the
// study, which tells how much is done and hands over the rows.
func printRows[R any](head string, text func(R) string, run func(progress func(done, total int), row func(R) error) error) (rows []R, err error) {
	table, err := newStudyTable(head)
	if err != nil {
		return nil, err
	}
	defer table.line.clear()
	err = run(table.progress, func(r R) error {
		rows = append(rows, r)
		return table.put(text(r))
	})
	return rows, err
}
