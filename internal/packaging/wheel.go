package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// wheel returns the package for pip (PyPA, Binary distribution format 1.0): the module
// geosql with the extension, and metadata in which RECORD has the hash of every file.
// Further files in its folder let pip install the folder too.
func (b built) wheel() (pack, error) {
	info := "geosql-" + b.Version + ".dist-info/"
	templates, err := rendered("python", b)
	if err != nil {
		return pack{}, err
	}
	var files, beside []file
	for _, f := range templates {
		switch f.name {
		case "METADATA", "WHEEL":
			f.name = info + f.name
		case "pyproject.toml", "backend.py":
			beside = append(beside, f)
			continue
		}
		files = append(files, f)
	}
	files = append(append(files, b.binary("geosql/")), b.licenses(info)...)
	files = append(files, file{name: info + "RECORD", data: record(files, info+"RECORD")})
	return pack{
		name: fmt.Sprintf("geosql-%s-py3-none-%s.whl", b.Version, b.Wheel()), purl: "pkg:pypi/geosql@" + b.Version,
		folder: "python", files: files, beside: beside, holds: []built{b}, form: zipped,
	}, nil
}

// record returns the RECORD of a wheel: it lists the files with their hashes and sizes, and
// itself without them.
func record(files []file, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
