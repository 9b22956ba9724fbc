// Command packaging packs binaries: programs and extensions into archives, extensions also
// into wheels for Python and packages for npm, and the modules of WebAssembly into package geosql-device for npm.
//
//	go run ./internal/packaging OUT FILE ..
//
// It must be run in the root of the repository. A FILE is called geosql or geosql.exe, geosql.so or geosql.dll, and geosql_test
// instead if it is the extension for tests of programs, which has an archive only. Its header tells the platform. draw.wasm and seal.wasm are those of
// make device, with the rest of their folder. Beside the packages OUT gets SHA256SUMS, and a list of their contents for
// programs that look for components (CycloneDX). The same files give the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/version"
)

// templates holds files of packages, in which {{.Name}} stands for a field or method of release or of built.
//
//go:embed program extension test-extension all:python npm npm-platform
var templates embed.FS

// A release holds the common data of all its packages.
type release struct {
	Version    string
	Extensions []built
	Modules    []built // of WebAssembly
	license    file

	deviceFolder string // of the modules
}

// A built is a program or an extension, for one platform.
type built struct {
	*release
	Platform
	File    string // geosql, geosql.exe, geosql.so, geosql_test.so or with .dll
	data    []byte
	info    *debug.BuildInfo
	c       *cLibrary
	notices file // the licences of the linked components
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/packaging OUT FILE ..")
		os.Exit(2)
	}
	files, err := publish(os.Args[1], "LICENSE", os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
	for _, file := range files {
		fmt.Println(file)
	}
}

// publish writes the packages of the binaries to the folder out and returns their files.
func publish(out, license string, binaries []string) (files []string, err error) {
	r := &release{Version: version.Version, license: file{name: "LICENSE"}}
	if r.license.data, err = os.ReadFile(license); err != nil {
		return nil, err
	}
	var all []built
	for _, path := range binaries {
		if isModule(path) {
			b, err := r.readModule(path)
			if err != nil {
				return nil, err
			}
			r.Modules, r.deviceFolder = append(r.Modules, b), filepath.Dir(path)
			continue
		}
		b, err := r.read(path)
		if err != nil {
			return nil, err
		}
		if b.info, err = buildinfo.ReadFile(path); err != nil {
			return nil, err
		}
		if b.c, err = b.cLibrary(); err != nil {
			return nil, err
		}
		if b.notices, err = notices(b.info, b.c); err != nil {
			return nil, err
		}
		all = append(all, b)
		if b.isForHosts() {
			r.Extensions = append(r.Extensions, b)
		}
	}
	packs, err := r.packs(all)
	if err != nil {
		return nil, err
	}
	bill, err := r.bill(slices.Concat(all, r.Modules), packs)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	var sums bytes.Buffer
	write := func(name string, data []byte) error {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		files = append(files, filepath.Join(out, name))
		return os.WriteFile(filepath.Join(out, name), data, 0o644)
	}
	for _, p := range packs {
		if err := write(p.name, p.packed); err != nil {
			return nil, err
		}
		if len(binaries) == 1 { // more would share folders
			if err := p.unpack(filepath.Join(out, "package", p.folder)); err != nil {
				return nil, err
			}
		}
	}
	if err := write("geosql-"+r.Version+".cdx.json", bill); err != nil {
		return nil, err
	}
	return files, os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// read reads a binary and its platform.
func (r *release) read(path string) (b built, err error) {
	b = built{release: r, File: filepath.Base(path)}
	if b.data, err = os.ReadFile(path); err != nil {
		return b, err
	}
	if b.Platform, err = platformOf(b.data); err != nil {
		return b, fmt.Errorf("%s %w", path, err)
	}
	if b.isExtension() && b.static() {
		return b, fmt.Errorf("%s is not linked with glibc, as an extension has to be", path)
	}
	return b, nil
}

func (b built) isExtension() bool {
	suffix := filepath.Ext(b.File)
	return suffix == ".so" || suffix == ".dll"
}

// isForHosts reports whether the binary is an extension that packages of hosts hold.
func (b built) isForHosts() bool { return b.isExtension() && !b.isForTests() }

func (b built) isForTests() bool { return strings.HasPrefix(b.File, "geosql_test.") }

// binary returns the file itself, as one of a package's folder.
func (b built) binary(folder string) file {
	return file{name: folder + b.File, data: b.data, executable: !b.isExtension()}
}

// licenses returns geosql's licence and those of the linked components, as files of a package's folder.
func (b built) licenses(folder string) []file {
	ours, others := b.license, b.notices
	ours.name, others.name = folder+"LICENSE", folder+"THIRD_PARTY.txt"
	return []file{ours, others}
}

// packs returns the packages of the release, packed.
func (r *release) packs(all []built) (packs []pack, err error) {
	var makers []func() (pack, error)
	for _, b := range all {
		makers = append(makers, b.archive)
		if b.isForHosts() {
			makers = append(makers, b.wheel, b.npmPlatform)
		}
	}
	if len(r.Extensions) > 0 {
		makers = append(makers, r.npm)
	}
	if len(r.Modules) > 0 {
		makers = append(makers, r.device)
	}
	for _, make := range makers {
		p, err := make()
		if err != nil {
			return nil, err
		}
		var packed bytes.Buffer
		if err := p.form(&packed, p.files); err != nil {
			return nil, err
		}
		p.packed = packed.Bytes()
		packs = append(packs, p)
	}
	return packs, nil
}
