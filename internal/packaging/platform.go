package main

import (
	"bytes"
	"debug/elf"
	"debug/pe"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Platform is the system that a binary runs on, as the package formats name it.
type Platform struct {
	OS      string // linux or windows: Go's and sqlpkg's
	Arch    string // amd64: Go's and sqlpkg's
	CPU     string // x64: Node's
	Machine string // x86_64: Python's
	Glibc   int    // 34 for glibc 2.34, the oldest that has everything the program calls; 0 if it calls none
}

// String returns the platform as the names of archives have it.
func (p Platform) String() string {
	if p.static() {
		return p.OS + "-" + p.Arch + "-static"
	}
	return p.OS + "-" + p.Arch
}

// static reports whether the program needs no library, as none of Windows can.
func (p Platform) static() bool { return p.OS == "linux" && p.Glibc == 0 }

// Node returns the platform as Node's process.platform and process.arch say it.
func (p Platform) Node() string { return p.NodeOS() + "-" + p.CPU }

// NodeOS returns Node's process.platform.
func (p Platform) NodeOS() string {
	if p.OS == "windows" {
		return "win32"
	}
	return p.OS
}

// Wheel returns the platform's tag of a wheel (PEP 600 for Linux).
func (p Platform) Wheel() string {
	if p.OS == "windows" {
		return "win_" + p.Arch
	}
	return fmt.Sprintf("manylinux_2_%d_%s", p.Glibc, p.Machine)
}

// Classifier returns the operating system as the metadata of wheels classify it.
func (p Platform) Classifier() string {
	if p.OS == "windows" {
		return "Microsoft :: Windows"
	}
	return "POSIX :: Linux"
}

// Needs says where the program runs.
func (p Platform) Needs() string {
	switch {
	case p.OS == "windows":
		return "Windows 10 or later, on " + p.Machine
	case p.static():
		return "any Linux, on " + p.Machine
	default:
		return fmt.Sprintf("Linux with glibc 2.%d or later (so not Alpine), on %s", p.Glibc, p.Machine)
	}
}

// platformOf reads the platform from the program or library itself, so that no package claims to run
// where it would not be loaded.
func platformOf(data []byte) (Platform, error) {
	if f, err := elf.NewFile(bytes.NewReader(data)); err == nil {
		return linux(f)
	}
	if f, err := pe.NewFile(bytes.NewReader(data)); err == nil {
		return windows(f)
	}
	return Platform{}, fmt.Errorf("is neither a program nor a library of Linux or Windows")
}

// linux returns the platform of an ELF file. It is linked with glibc or with no library at all.
func linux(f *elf.File) (p Platform, err error) {
	switch f.Machine {
	case elf.EM_X86_64:
		p = Platform{OS: "linux", Arch: "amd64", CPU: "x64", Machine: "x86_64"}
	case elf.EM_AARCH64:
		p = Platform{OS: "linux", Arch: "arm64", CPU: "arm64", Machine: "aarch64"}
	default:
		return p, fmt.Errorf("is for %v; packages are made for x86_64 and aarch64", f.Machine)
	}
	interpreted := slices.ContainsFunc(f.Progs, func(s *elf.Prog) bool { return s.Type == elf.PT_INTERP })
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) == 0 && !interpreted {
		return p, err
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return p, err
	}
	for _, s := range symbols {
		p.Glibc = max(p.Glibc, glibc(s.Version))
	}
	if p.Glibc == 0 {
		return p, fmt.Errorf("is linked with a C library other than glibc")
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

// windows returns the platform of a PE file. It may need the libraries that every Windows has, and none of the compiler's.
func windows(f *pe.File) (Platform, error) {
	p := Platform{OS: "windows", Arch: "amd64", CPU: "x64", Machine: "x86_64"}
	if f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
		return p, fmt.Errorf("is for machine %#x; packages are made for amd64", f.Machine)
	}
	// Their form is name:library. ImportedLibraries is not written yet in the standard library.
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return p, err
	}
	for _, s := range symbols {
		_, library, _ := strings.Cut(s, ":")
		if library = strings.ToLower(library); !slices.Contains(ofWindows, library) {
			return p, fmt.Errorf("needs %s, which not every Windows has", library)
		}
	}
	return p, nil
}

// ofWindows are the libraries of Windows that programs may need. Go's runtime loads further ones when it needs them.
var ofWindows = []string{"advapi32.dll", "bcrypt.dll", "kernel32.dll", "msvcrt.dll", "ntdll.dll", "shell32.dll", "user32.dll", "ws2_32.dll"}
