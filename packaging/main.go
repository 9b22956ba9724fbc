// Command packaging puts geosql.so into packages for its hosts: an
// archive for the sqlite3 shell and sqlpkg, a Python wheel and an npm package.
//
//	go run ./packaging build/geosql.so
//
// It must be run in the root of the repository. Beside the library it writes the
// packages and, under package/, the folders that they were packed from. The same
// library gives the same bytes.
package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/sqlitefn"
)

// templates holds files of packages, in which {{.Name}} stands for a field of release.
//
//go:embed sqlpkg.json all:python npm
var templates embed.FS

// A release holds what all packages contain, and the fields that templates name.
type release struct {
	Version string
	Platform
	library []byte
	license []byte
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./packaging FILE.so")
		os.Exit(2)
	}
	packages, err := makePackages(os.Args[1], "LICENSE", filepath.Dir(os.Args[1]))
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
	for _, file := range packages {
		fmt.Println(file)
	}
}

// makePackages writes the packages of the library to the folder out and returns
// their files.
func makePackages(library, license, out string) (files []string, err error) {
	r := release{Version: sqlitefn.Version}
	if r.Platform, err = platformOf(library); err != nil {
		return nil, err
	}
	if r.library, err = os.ReadFile(library); err != nil {
		return nil, err
	}
	if r.license, err = os.ReadFile(license); err != nil {
		return nil, err
	}
	for _, newPack := range []func(release) (pack, error){archive, wheel, npm} {
		p, err := newPack(r)
		if err != nil {
			return nil, err
		}
		file, err := p.write(out)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
