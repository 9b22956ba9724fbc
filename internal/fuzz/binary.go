package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// A binary has the tests of a package, instrumented for fuzzing. It is built once for all targets of the package:
// `go test -fuzz` links it anew for each, which takes longer than a target that is tried for a moment.
type binary struct {
	path   string
	inputs string // the folder in Go's cache where inputs that are new are kept
}

// build builds the tests of the package in a folder. It leaves vet out, which looks at the source and not at instruments.
func build(ctx context.Context, dir, path string) (*binary, error) {
	if _, err := goCommand(ctx, dir, "test", "-c", "-vet=off", "-fuzz=.", "-o", path); err != nil {
		return nil, err
	}
	cache, err := goCommand(ctx, dir, "env", "GOCACHE")
	if err != nil {
		return nil, err
	}
	name, err := goCommand(ctx, dir, "list")
	if err != nil {
		return nil, err
	}
	return &binary{path, filepath.Join(cache, "fuzz", filepath.FromSlash(name))}, nil // as the go command has it
}

// goCommand runs the go command in a folder and returns its output.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var failure bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s%s", strings.Join(args, " "), dir, err, out, failure.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
