package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A bill is a list of components in the form of CycloneDX 1.6. It has neither a time nor a number of its own, so that
// the same packages have the same bill.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

func sha256Of(data []byte) []hash {
	return []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(data))}}
}

// bill returns the list of the contents of packages: each binary, the modules that the Go command has noted in it, and
// the C libraries, which it does not note.
func (r *release) bill(all []built, packs []pack) ([]byte, error) {
	apache := make([]license, 1)
	apache[0].License.ID = "Apache-2.0"
	whole := component{Type: "application", Ref: "geosql", Name: "geosql", Version: r.Version, Licenses: apache}
	list := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{whole}}

	parts := map[string]component{} // of the binaries, by their references
	published := dependency{Ref: whole.Ref}
	for _, p := range packs {
		published.On = append(published.On, p.name)
		holds := dependency{Ref: p.name}
		for _, b := range p.holds {
			holds.On = append(holds.On, b.ref())
		}
		list.Components = append(list.Components, component{
			Type: "file", Ref: p.name, Name: p.name, Version: r.Version, PURL: p.purl, Licenses: apache, Hashes: sha256Of(p.packed)})
		list.Dependencies = append(list.Dependencies, holds)
	}
	list.Dependencies = append(list.Dependencies, published)
	for _, b := range all {
		contains := dependency{Ref: b.ref()}
		for _, part := range b.parts() {
			parts[part.Ref] = part
			contains.On = append(contains.On, part.Ref)
		}
		list.Components = append(list.Components, component{
			Type: "file", Ref: b.ref(), Name: b.File, Version: r.Version, Licenses: apache, Hashes: sha256Of(b.data), Properties: b.settings()})
		list.Dependencies = append(list.Dependencies, contains)
	}
	for _, part := range parts {
		list.Components = append(list.Components, part)
	}
	slices.SortFunc(list.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	slices.SortFunc(list.Dependencies, func(a, b dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// ref returns the bill's reference to a binary.
func (b built) ref() string { return b.Platform.String() + "/" + b.File }

// parts returns the components linked into a binary.
func (b built) parts() (parts []component) {
	add := func(purl, name, version string, properties ...property) {
		parts = append(parts, component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl, Properties: properties})
	}
	standard := strings.TrimPrefix(b.info.GoVersion, "go")
	add("pkg:golang/std@"+standard, "std", standard)
	for _, m := range b.info.Deps {
		add("pkg:golang/"+m.Path+"@"+m.Version, m.Path, m.Version, property{"geosql:go.sum", m.Sum})
		if m.Path == "github.com/mattn/go-sqlite3" { // has SQLite's source
			add("pkg:generic/sqlite@"+sqlite.Version(), "SQLite", sqlite.Version())
		}
	}
	if b.c != nil {
		add("pkg:deb/debian/"+b.c.Package+"@"+b.c.Version, b.c.Package, b.c.Version)
	}
	return parts
}

// settings returns how the Go command has built something.
func (b built) settings() (list []property) {
	for _, s := range b.info.Settings {
		list = append(list, property{"geosql:go.build." + s.Key, s.Value})
	}
	return list
}
