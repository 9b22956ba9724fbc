//go:build !geosql_loadable

package sqlitefn_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var update = flag.Bool("update", false, "rewrite the reference from the function table")

// The reference has a page that lists all functions, a page a section, and all of these in one file.
const (
	referenceList  = "../docs/reference.md"
	referencePages = "../docs/reference/"
	referenceWhole = referencePages + "all.txt"
)

const referenceHead = `# Reference

All functions, with a page for each kind: %s.
` + "`docs/reference/all.txt` has everything in one file, for grep, and `geosql help NAME` shows one function.\n" + `
<FunctionFilter />
`

const referenceRules = `
## Rules of all functions

**Accounts** are TEXT or INTEGER; 42 and '42' are the same account. **Numbers** are the
decimals that people write: 0.1 is exactly a tenth, and ten charges of it use up 1.
**Errors** are one line that names the function and the argument; none depends on the
value of a valid secret. **Refusals** say how much was asked for, how much is left and
how much is missing.

**What is protected**: the secret arguments, as passed. **What is public**:
everything else, that is, which rows exist, WHERE, FILTER, JOIN, GROUP BY, ORDER BY,
LIMIT, the choice of account, epsilon and universe, and which values are NULL. A
condition on a secret column is not covered by the promise, and neither is running time.

**Each evaluation charges.** SQLite may evaluate an expression more often than it
shows rows. A column of a flattened subquery or view that is used twice means two
draws and two charges, and ` + "`ORDER BY t LIMIT 2`" + ` without an index evaluates every
row. The table-valued form, a MATERIALIZED common table expression, and
` + "`LIMIT -1 OFFSET 0`" + ` in the subquery evaluate once.

**A database is charged to one ledger**, whose id it holds. Nothing is charged before
that id is committed: in the transaction that sets the very first limit, no release is
possible before its COMMIT. A database that cannot be written can be charged if it
already holds the id; if it does not, set a limit once over a connection that may write.
Every charge is refused if the ledger is missing or another one is in its place, or if a database is
attached that was charged to another ledger. A database in memory has a ledger in
memory, which disappears with it.

**The owner's functions** (the first and the last section) are refused if the schema of a
database calls them, as in views, triggers and constraints. Otherwise someone who opens a
database of somebody else could set limits that its author chose. Temporary views and
triggers may call them.

**Examples** run in the tests, from the first page to the last, on one database. Lines after
` + "`-- drawn:`" + ` are of one run, and differ in each; all other output is always the same. These pages are generated from the function
table by ` + "`go test ./sqlitefn -run Reference -update`" + `.
`

// referenceSections has the file and the first lines of each section's page.
var referenceSections = map[string]struct{ file, head string }{
	frame.DeclaredByOwner: {"declared.md", "Public facts that releases need: boxes, universes, limits, models, policies."},
	frame.ReleasedValues:  {"released.md", "Answers with noise, for which accounts pay."},
	frame.OverSealed: {"sealed.md", "Answers with noise over columns that only the owner's key opens: see [sealed databases](../sealed.md). " +
		"The examples ask a sealed table\n`reading(home, day, kwh, place)` of three homes with eight readings each."},
	frame.Free:     {"free.md", "Functions of public facts and of answers that were paid for."},
	frame.ForOwner: {"owner.md", "Balances, charges and runs, for the owner's eyes."},
}

// An output is the output of an example.
type output struct {
	text  string
	drawn bool // it differs from run to run
}

// referenceFiles renders the reference, with the outputs of its examples.
func referenceFiles(outputs map[string]output) map[string]string {
	files := map[string]string{}
	var pages []string
	list, whole := "", referenceRules
	seen := map[string]bool{}
	for _, section := range frame.Sections {
		page := referenceSections[section]
		pages = append(pages, fmt.Sprintf("[%s](reference/%s)", section, page.file))
		list += "\n## " + section + "\n\n"
		text := fmt.Sprintf("# %s\n\n%s [All functions](../reference.md).\n", section, page.head)
		last := ""
		for _, f := range sqlitefn.Functions {
			if f.Section != section {
				continue
			}
			if f.Name != last {
				text += "\n## " + f.Name + "\n"
			}
			last = f.Name
			text += referenceEntry(f, outputs)
			anchor := "" // of links to this page from elsewhere
			if !seen[f.Name] {
				anchor, seen[f.Name] = fmt.Sprintf(`<a id="%s"></a>`, f.Name), true
			}
			list += fmt.Sprintf("- %s[`%s`](reference/%s#%s): %s\n", anchor, f.Signature(), page.file, f.Name, f.Does)
		}
		files[referencePages+page.file] = text
		whole += "\n" + text
	}
	files[referenceList] = fmt.Sprintf(referenceHead, strings.Join(pages, "; ")) + list + referenceRules
	files[referenceWhole] = strings.TrimPrefix(whole, "\n")
	return files
}

// referenceEntry renders a form of a function.
func referenceEntry(f *frame.Function, outputs map[string]output) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n`%s`: %s\n\n%s\n\n```sql\n", f.Signature(), f.Forms(), f.Does)
	for _, example := range f.Examples {
		b.WriteString(example + ";\n")
		if outputs[example].drawn {
			b.WriteString("-- drawn:\n")
		}
		for line := range strings.Lines(outputs[example].text) {
			b.WriteString("-- " + line)
		}
	}
	fmt.Fprintf(&b, "```\n\n**Cost**: %s.\n\n**Accuracy**: %s.\n", f.Cost(), f.Exactness())
	if len(f.Args) > 0 {
		b.WriteString("\n| argument | is |\n|---|---|\n")
	}
	for _, a := range f.Args {
		optional := ""
		if a.Optional {
			optional = " (optional)"
		}
		fmt.Fprintf(&b, "| %s | %s%s |\n", a.Name, a.Is, optional)
	}
	if f.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(f.Notes))
	}
	return b.String()
}

// exampleOutputs runs all examples on new databases, twice.
func exampleOutputs(t *testing.T) map[string]output {
	t.Helper()
	outputs := map[string]output{}
	once, again := runExamples(t, 0), runExamples(t, 1)
	for _, f := range sqlitefn.Functions {
		for _, example := range f.Examples {
			draws := f.Flags&frame.OwnerOnly == 0 && slices.ContainsFunc(sqlitefn.Functions.Releasing(), func(name string) bool {
				return strings.Contains(example, name+"(")
			})
			outputs[example] = output{once[example], draws || once[example] != again[example]}
		}
	}
	return outputs
}

// runExamples returns the outputs of the examples by statement: a line for each row, with its columns between bars.
func runExamples(t *testing.T, seed int) map[string]string {
	t.Helper()
	t.Chdir(t.TempDir()) // for the files that they write
	key := sealedtest.NewKey(t)
	main := open(t, "reference.db?_sync=OFF", sqlitefn.WithKeyring(sealed.NewKeyring(key)))
	outputs := map[string]string{}
	for i, f := range sqlitefn.Functions {
		if f.Section == frame.OverSealed && sqlitefn.Functions[i-1].Section != frame.OverSealed {
			main.sealReadings(key.Public())
		}
		d := main
		if f.Name == "geosql_ledger" { // before the first use of one
			d = open(t, "another.db")
		}
		d.drawing(rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, seed, f.Section, f.Name))))
		for _, example := range f.Examples {
			for _, row := range d.rows(example) {
				var columns []string
				for _, value := range row {
					columns = append(columns, d.value("SELECT iif(typeof(?1) = 'real', printf('%!.15g', ?1), coalesce(CAST(?1 AS TEXT), 'NULL'))", value).(string))
				}
				outputs[example] += strings.Join(columns, " | ") + "\n"
			}
		}
	}
	return outputs
}

// sealReadings makes the table that the examples over sealed values ask.
func (d *database) sealReadings(key sealed.PublicKey) {
	d.Helper()
	d.run(`SELECT dx_universe('metered', 0, 5, 0.001, 'kWh')`, `CREATE TABLE reading(home, day, kwh, place)`)
	var seal *sealedtest.Database
	d.raw(func(c *sqlitefn.Conn) {
		seal = c.Seal(d, key,
			catalog.Column{Table: "reading", Name: "kwh", Account: "home", Universe: &catalog.Universe{Name: "metered", Lo: 0, Hi: 5, Step: 0.001, Unit: "kWh"}},
			catalog.Column{Table: "reading", Name: "place", Account: "home", Domain: &catalog.Domain{Name: "haidian", South: 39.9, West: 116.2, North: 40.1, East: 116.4, StepM: 1}})
	})
	for i := range 24 {
		home := fmt.Sprint("home ", i%3+1)
		d.run(fmt.Sprintf(`INSERT INTO reading VALUES('%s', %d, %s, %s)`, seal.Account(home).Pseudonym, i/3+1,
			seal.Reading(1, home, int64(200+137*i%900)), seal.Location(2, home, 39.95+0.03*float64(i%3), 116.3)))
	}
}

// The pages are those that the function table and the examples make. Each example has output, and a function with output that is
// drawn says how accurate it is.
func TestReferenceIsCurrent(t *testing.T) {
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	outputs := exampleOutputs(t)
	for name, text := range referenceFiles(outputs) {
		name = filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != text {
			t.Errorf("%s is not made from the function table, %v; run go test ./sqlitefn -run Reference -update", name, err)
		}
	}
	for _, f := range sqlitefn.Functions {
		for _, example := range f.Examples {
			if o := outputs[example]; o.text == "" || o.drawn && f.Accuracy == "" && f.Flags&frame.OwnerOnly == 0 {
				t.Errorf("%s: output %q of %s, accuracy %q", f.Name, o.text, example, f.Accuracy)
			}
		}
	}
}

// Every function has all parts of an entry.
func TestEveryFunctionIsDescribed(t *testing.T) {
	for _, f := range sqlitefn.Functions {
		if !slices.Contains(frame.Sections, f.Section) || !strings.HasSuffix(f.Does, ".") || len(f.Examples) == 0 || f.Charges != "" && f.Accuracy == "" {
			t.Errorf("%s: section %q, does %q, examples %q, charges %q, accuracy %q", f.Name, f.Section, f.Does, f.Examples, f.Charges, f.Accuracy)
		}
		for _, a := range f.Args {
			if a.Is == "" {
				t.Errorf("%s: argument %s is not described", f.Name, a.Name)
			}
		}
		if f.Section == frame.ReleasedValues && (f.Flags != 0 || f.Charges == "") {
			t.Errorf("%s releases: flags %#x, charges %q", f.Name, f.Flags, f.Charges)
		}
		if (f.Section == frame.DeclaredByOwner || f.Section == frame.ForOwner) && f.Flags&frame.OwnerOnly == 0 {
			t.Errorf("%s must not be usable in views", f.Name)
		}
	}
}

// A free function charges nobody, and has no argument that may hold a secret: such arguments say so.
func TestFreeFunctionsTakeNoSecret(t *testing.T) {
	secrets := 0
	for _, f := range sqlitefn.Functions {
		for _, a := range f.Args {
			secret := strings.Contains(a.Is, "secret")
			if secret {
				secrets++
			}
			if f.Section == frame.Free && (secret || f.Charges != "") {
				t.Errorf("%s: %s, charges %q", f.Name, a.Is, f.Charges)
			}
		}
	}
	if secrets == 0 {
		t.Error("no argument of any function is secret")
	}
}
