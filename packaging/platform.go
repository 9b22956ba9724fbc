package main

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"
)

// A Platform is the platform that a library runs on, as the package formats name it.
type Platform struct {
	Machine string // x86_64: uname's and Python's
	CPU     string // x64: Node's
	Arch    string // amd64: Go's and sqlpkg's
	Glibc   int    // 34 for glibc 2.34, the oldest that has everything the library calls
}

var platforms = map[elf.Machine]Platform{
	elf.EM_X86_64:  {Machine: "x86_64", CPU: "x64", Arch: "amd64"},
	elf.EM_AARCH64: {Machine: "aarch64", CPU: "arm64", Arch: "arm64"},
}

// Wheel returns the platform's tag of a wheel (PEP 600).
func (p Platform) Wheel() string { return fmt.Sprintf("manylinux_2_%d_%s", p.Glibc, p.Machine) }

// platformOf reads the platform from the library, so that no package claims to run where
// the dynamic linker would refuse it.
func platformOf(file string) (Platform, error) {
	f, err := elf.Open(file)
	if err != nil {
		return Platform{}, fmt.Errorf("%s is not a Linux library: %w", file, err)
	}
	defer f.Close()
	p, ok := platforms[f.Machine]
	if !ok {
		return p, fmt.Errorf("%s is for %v; packages are made for x86_64 and aarch64", file, f.Machine)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return p, err
	}
	for _, s := range symbols {
		p.Glibc = max(p.Glibc, glibc(s.Version))
	}
	if p.Glibc == 0 {
		return p, fmt.Errorf("%s is not linked with glibc", file)
	}
	return p, nil
}

// glibc returns the minor version in a symbol's version, such as GLIBC_2.34 or
// GLIBC_2.2.5, or 0 for a symbol of another library.
func glibc(version string) int {
	minor, ok := strings.CutPrefix(version, "GLIBC_2.")
	if !ok {
		return 0
	}
	minor, _, _ = strings.Cut(minor, ".")
	n, _ := strconv.Atoi(minor) // GLIBC_PRIVATE does not occur in a linked library
	return n
}
