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
		if f.section != section {
			section = f.section
			fmt.Fprintf(&b, "\n## %s\n", section)
		}
		fmt.Fprintf(&b, "\n### %s\n\n`%s`: %s\n\n%s\n", f.name, f.signature(), f.forms(), f.does)
		if len(f.args) > 0 {
			b.WriteString("\n| argument | is |\n|---|---|\n")
		}
		for _, a := range f.args {
			optional := ""
			if a.optional {
				optional = " (optional)"
			}
			fmt.Fprintf(&b, "| %s | %s%s |\n", a.name, a.is, optional)
		}
		if f.charges != "" {
			fmt.Fprintf(&b, "\nCharges %s.\n", f.charges)
		}
		if f.notes != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(f.notes))
		}
		if len(f.example) > 0 {
			fmt.Fprintf(&b, "\n```sql\n%s;\n```\n", strings.Join(f.example, ";\n"))
		}
	}
	return b.String()
}

// writeContents writes the sections and their functions, each with a link to it.
func writeContents(b *strings.Builder) {
	b.WriteString("\n## Contents\n\n")
	for _, section := range sections {
		var links []string
		for _, f := range functions {
			if f.section == section {
				links = append(links, fmt.Sprintf("[%s](#%s)", f.name, f.name))
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
		for _, example := range f.example {
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
		if f.section == "" || f.does == "" || !strings.HasSuffix(f.does, ".") {
			t.Errorf("%s: section %q, does %q", f.name, f.section, f.does)
		}
		for _, a := range f.args {
			if a.is == "" {
				t.Errorf("%s: argument %s is not described", f.name, a.name)
			}
		}
		if f.section == released && (f.flags != 0 || f.charges == "") {
			t.Errorf("%s releases: flags %#x, charges %q", f.name, f.flags, f.charges)
		}
		if (f.section == declared || f.section == owners) && f.flags&ownerOnly == 0 {
			t.Errorf("%s must not be usable in views", f.name)
		}
	}
}

// What is free charges nobody, and has no argument that may hold a secret: those say so.
func TestFreeFunctionsTakeNoSecret(t *testing.T) {
	secrets := 0
	for _, f := range functions {
		for _, a := range f.args {
			secret := strings.Contains(a.is, "secret")
			if secret {
				secrets++
			}
			if f.section == free && (secret || f.charges != "") {
				t.Errorf("%s: %s, charges %q", f.name, a.is, f.charges)
			}
		}
	}
	if secrets == 0 {
		t.Error("no argument of any function is secret")
	}
}
