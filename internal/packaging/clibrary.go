package main

import (
	"errors"
	"fmt"
	"os/exec"
)

// A cLibrary is a C library that was linked into a program, as Debian packages it: the Go command notes nothing of it.
type cLibrary struct{ Package, Version string }

// cLibrary returns the C library of a program that does not take it from its system, or nil.
func (p Platform) cLibrary() (*cLibrary, error) {
	var name string
	switch {
	case p.static():
		name = "musl-dev"
	case p.OS == "windows":
		name = "mingw-w64-x86-64-dev"
	default:
		return nil, nil
	}
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output()
	if err == nil && len(out) == 0 { // dpkg knows the name, as that of a package that may be installed
		err = errors.New("it is not installed")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot tell which %s was linked, and its licence must be passed on; packages for %s are made on Debian: %w", name, p, err)
	}
	return &cLibrary{Package: name, Version: string(out)}, nil
}
