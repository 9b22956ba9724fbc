package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// terms are the names of files in which modules say how they may be passed on.
var terms = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)\b`)

// notices returns the licences of Go, of all modules and of the C library that were linked, which ask to be passed on with
// programs.
func notices(info *debug.BuildInfo, c *cLibrary) (file, error) {
	goroot, err := goCommand("env", "GOROOT")
	if err != nil {
		return file{}, err
	}
	var text bytes.Buffer
	text.WriteString("The libraries that geosql was linked with, and the terms of each.\n")
	if err := appendTerms(&text, "Go "+strings.TrimPrefix(info.GoVersion, "go"), goroot); err != nil {
		return file{}, err
	}
	for _, m := range info.Deps {
		folder, err := goCommand("list", "-m", "-f", "{{.Dir}}", m.Path+"@"+m.Version)
		if err != nil {
			return file{}, err
		}
		if err := appendTerms(&text, m.Path+" "+m.Version, folder); err != nil {
			return file{}, err
		}
	}
	if c != nil {
		if err := appendTerms(&text, c.Package+" "+c.Version, "/usr/share/doc/"+c.Package); err != nil {
			return file{}, err
		}
	}
	return file{data: text.Bytes()}, nil
}

// appendTerms appends the terms that a folder of source holds.
func appendTerms(text *bytes.Buffer, what, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	before := text.Len()
	for _, e := range entries {
		if e.IsDir() || !terms.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n==== %s: %s\n\n%s\n", what, e.Name(), bytes.TrimSpace(data))
	}
	if text.Len() == before {
		return fmt.Errorf("%s has no licence among its files in %s", what, folder)
	}
	return nil
}

// goCommand returns the output of a go command.
func goCommand(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
