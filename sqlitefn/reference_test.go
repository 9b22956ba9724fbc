//go:build !geosql_loadable

package sqlitefn

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var update = flag.Bool("update", false, "rewrite docs/reference.md from the function table")

const referenceFile = "../docs/reference.md"

const referenceHead = `# Reference

Generated from the function table; its examples run, from top to bottom, in the
tests (` + "`go test ./sqlitefn -run Reference -update`" + ` writes this page).

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
`

// referencePage renders docs/reference.md.
func referencePage() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	writeContents(&b)
	section := ""
	for _, f := range functions {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(&b, "\n## %s\n", section)
		}
		fmt.Fprintf(&b, "\n### %s\n\n`%s`: %s\n\n%s\n", f.Name, f.Signature(), f.Forms(), f.Does)
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
		if f.Charges != "" {
			fmt.Fprintf(&b, "\nCharges %s.\n", f.Charges)
		}
		if f.Notes != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(f.Notes))
		}
		if len(f.Examples) > 0 {
			fmt.Fprintf(&b, "\n```sql\n%s;\n```\n", strings.Join(f.Examples, ";\n"))
		}
	}
	return b.String()
}

// writeContents writes the sections and their functions, each with a link to it.
func writeContents(b *strings.Builder) {
	b.WriteString("\n## Contents\n\n")
	for _, section := range frame.Sections {
		var links []string
		for _, f := range functions {
			if f.Section == section {
				links = append(links, fmt.Sprintf("[%s](#%s)", f.Name, f.Name))
			}
		}
		anchor := strings.ToLower(strings.NewReplacer(",", "", " ", "-").Replace(section))
		fmt.Fprintf(b, "- [%s](#%s): %s\n", section, anchor, strings.Join(slices.Compact(links), ", "))
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	page := referencePage()
	if *update {
		if err := os.WriteFile(referenceFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page {
		t.Error("docs/reference.md is not what the function table says; run go test ./sqlitefn -run Reference -update")
	}
}

func TestReferenceExamplesRun(t *testing.T) {
	t.Chdir(t.TempDir()) // for the files that they write
	db := sql.OpenDB(Connector(filepath.Join(t.TempDir(), "reference.db")))
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, f := range functions {
		for _, example := range f.Examples {
			rows, err := db.Query(example)
			if err != nil {
				t.Fatalf("%s: %v", example, err)
			}
			n := 0
			for rows.Next() {
				n++
			}
			if err := rows.Err(); err != nil {
				t.Errorf("%s: %v", example, err)
			}
			rows.Close()
			if n == 0 {
				t.Errorf("%s: no rows", example)
			}
		}
	}
}

func TestEveryFunctionIsDescribed(t *testing.T) {
	for _, f := range functions {
		if f.Section == "" || f.Does == "" || !strings.HasSuffix(f.Does, ".") {
			t.Errorf("%s: section %q, does %q", f.Name, f.Section, f.Does)
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
	for _, f := range functions {
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
