package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/audit"
	"github.com/geosql/geosql/internal/audit/host"
	"github.com/geosql/geosql/internal/cli"
)

var auditCommand = &cli.Command{
	Name: "audit", Operands: "[NAME ..]", Min: 0, Max: -1,
	Summary: "attack the functions that release values",
	Details: `Attacks the functions NAME, or all that release values, from outside, through SQL, in databases of
its own. For pairs of neighbouring inputs it looks for differences, and prints for each
function the charge for one answer, and beside it the least that an answer should have charged: a
lower bound that is wrong with probability 1e-6 at most, for all functions together. Where the
bound is above the charge, or anything else but an answer depends on a secret, the claim is
violated.

  geosql audit
  geosql audit dx_sum geoind_laplace --minutes 1
  geosql audit --minutes 30 --json > audit.json
  geosql audit --extension geosql.so
  geosql audit --server

SQL is evaluated in this process, or where a flag says. Ctrl-C ends it with its results so far
found until then. The exit status is 0 if all claims hold, as far as the attacks can tell, and 1
if one is violated.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t auditTask
		t.register(fs)
		return t.run
	},
}

// An auditTask holds the command line of the command audit.
type auditTask struct {
	minutes   float64
	json      bool
	page      string
	extension string // a file
	server    bool
}

func (t *auditTask) register(fs *flag.FlagSet) {
	t.minutes = 5
	cli.NumberVar(fs, &t.minutes, "minutes", "take `N` minutes for all functions together ")
	cli.FileVar(fs, &t.extension, "extension", "audit the extension `FILE`, such as geosql.so, in the first python3 that can load it")
	cli.Switch(fs, "server", "audit geosql serve, over sealed databases", func() { t.server = true })
	cli.Switch(fs, "json", "print an object with an entry for each function", func() { t.json = true })
	fs.StringVar(&t.page, "out", "", "write a page with all attacks to `FILE`, which must not exist, such as audit.html")
}

// errViolated ends the command where a claim does not hold.
var errViolated = errors.New("audit: a claim is violated")

func (t *auditTask) run(ctx context.Context, functions []string) error {
	if err := t.check(functions); err != nil {
		return err
	}
	h, err := t.host(ctx)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	page, err := t.beginPage()
	if err != nil {
		return err
	}
	defer page.Remove()
	line := cli.NewTerminalLine()
	report, err := audit.Run(ctx, audit.Config{
		Host: h, Functions: functions, Workers: runtime.GOMAXPROCS(0),
		Time:     time.Duration(t.minutes * float64(time.Minute)),
		Found:    func(v audit.Violation) { line.Clear(); cli.Say("violated: %s: %s: %s", v.Function, v.Pair, v.What) },
		Progress: func(share float64) { line.Show("auditing: %.0f %%", 100*share) },
	})
	line.Clear()
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := cmp.Or(t.print(report), writePage(page, report)); err != nil {
		return err
	}
	if report.Violated {
		return errViolated
	}
	return context.Cause(ctx)
}

// mostMinutes is a year.
const mostMinutes = 366 * 24 * 60

// check returns an error if the command line is wrong.
func (t *auditTask) check(functions []string) error {
	switch {
	case t.minutes <= 0 || t.minutes > mostMinutes:
		return cli.UsageError(fmt.Sprintf("audit: --minutes must be above 0 and at most %d", mostMinutes))
	case t.server && t.extension != "":
		return cli.UsageError("audit: --extension and --server are two places to audit: give one of them")
	}
	known := audit.Functions()
	for _, name := range functions {
		if slices.Contains(known, name) {
			continue
		}
		return cli.UsageError("audit: " + name + " is none of the functions that release values" + cli.DidYouMean(name, known))
	}
	return nil
}

// host returns where SQL is evaluated.
func (t *auditTask) host(ctx context.Context) (host.Host, error) {
	if t.extension != "" {
		return host.NewExtension(ctx, t.extension)
	}
	command, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if t.server {
		return host.Server{Command: command}, nil
	}
	return host.Library{Command: command}, nil
}

// beginPage begins the page, so that a name that cannot be used is an error before the audit. It is nil where none is asked for.
func (t *auditTask) beginPage() (*store.NewFile, error) {
	if t.page == "" {
		return nil, nil
	}
	f, err := store.BeginFile(t.page)
	if err != nil {
		return nil, fmt.Errorf("audit: --out: %w", err)
	}
	return f, nil
}

// writePage writes the page, if there is one, and gives it its place.
func writePage(page *store.NewFile, r *audit.Report) error {
	if page == nil {
		return nil
	}
	f, err := os.Create(page.Path())
	if err != nil {
		return err
	}
	if err := cmp.Or(r.WritePage(f), f.Close()); err != nil {
		return err
	}
	return page.Publish()
}

// print prints a report to standard output.
func (t *auditTask) print(r *audit.Report) error {
	if t.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "function\tverdict\tunit\tcharged\tat least\tdraws")
	for _, f := range r.Functions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\t%.4g\t%d\n", f.Function, f.Verdict, f.Unit, f.Charged, f.Lower, f.Draws)
	}
	return w.Flush()
}
