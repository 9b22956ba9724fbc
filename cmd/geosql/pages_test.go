package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/doctest"
)

// pages are the pages with commands to run, each from top to bottom in a folder of its own, which
// has the command and the examples as a clone has.
var pages = []string{"first-answer-locations", "first-answer-meters", "first-hour", "first-sealed", "epsilon", "choosing", "skewed", "public", "budgets", "how-accurate", "first-release"}

// A block of a page is run by a shell. "sh" demands success, "sh refused" an error of geosql. The text
// below it is its output; of answers with noise ("sh drawn"), and of errors, that holds but for numbers.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../docs", page+".md"))
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := doctest.Blocks(string(text))
			if err != nil || len(blocks) == 0 {
				t.Fatalf("%d blocks, %v", len(blocks), err)
			}
			folder := cloneFolder(t)
			for _, b := range blocks {
				follow(t, page, folder, clitest.Command(t).Env, b)
			}
		})
	}
}

// cloneFolder returns a folder with the command and the examples.
func cloneFolder(t *testing.T) string {
	t.Helper()
	clitest.NeedsSh(t)
	folder := t.TempDir()
	examples, err := filepath.Abs("../../examples")
	if err == nil {
		err = os.Symlink(examples, filepath.Join(folder, "examples"))
	}
	if err == nil {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", clitest.Command(t).Path)
		err = os.WriteFile(filepath.Join(folder, "geosql"), []byte(script), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// follow runs a block in a folder and compares its output with the page.
func follow(t *testing.T, page, folder string, env []string, b doctest.Block) {
	t.Helper()
	at := fmt.Sprintf("docs/%s.md:%d", page, b.Line)
	cmd := exec.Command("sh", "-ec", b.Code)
	cmd.Dir, cmd.Env = folder, env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	have, want := strings.TrimRight(out.String(), "\n"), b.Prints
	switch b.Language {
	case "sh", "sh drawn":
		if err != nil {
			t.Fatalf("%s: %v\n%s", at, err, said.String())
		}
	case "sh refused":
		if err == nil || !strings.HasPrefix(said.String(), "geosql: ") {
			t.Fatalf("%s is not refused: %v, %s", at, err, said.String())
		}
		have = strings.TrimRight(out.String()+said.String(), "\n")
	default:
		t.Fatalf("%s: nothing runs %q", at, b.Language)
	}
	if b.Language != "sh" {
		have, want = doctest.Masked(have), doctest.Masked(want)
	}
	if b.Prints != "" && have != want {
		t.Errorf("%s prints\n%s\nand the page says\n%s", at, out.String()+said.String(), b.Prints)
	}
}

// The scripts beside the made-up data of the pages make the same data.
func TestMadeUpData(t *testing.T) {
	for _, name := range []string{"rides.csv", "meters.csv", "trips.csv", "winter.csv.gz"} {
		base, _, _ := strings.Cut(name, ".")
		script, err := os.ReadFile("../../examples/data/" + base + ".sql")
		check(t, err)
		file, err := os.Open("../../examples/data/" + name)
		check(t, err)
		defer file.Close()
		var data io.Reader = file
		if strings.HasSuffix(name, ".gz") {
			data, err = gzip.NewReader(file)
			check(t, err)
		}
		want, err := io.ReadAll(data)
		check(t, err)
		r := clitest.Run(t, string(script), "-csv", filepath.Join(t.TempDir(), "made.db"))
		if r.Status != 0 || r.Out != string(want) {
			t.Errorf("%s is not what %s.sql makes: status %d, %s", name, base, r.Status, r.Err)
		}
	}
}
