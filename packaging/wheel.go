package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// wheel returns the package for pip (PyPA, Binary distribution format 1.0): the module
// geosql with the library, and metadata in which RECORD has the hash of every file.
// Further files in its folder let pip install the folder too.
func wheel(r release) (pack, error) {
	info := "geosql-" + r.Version + ".dist-info/"
	templates, err := r.rendered("python")
	if err != nil {
		return pack{}, err
	}
	var files, beside []packed
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
	files = append(files, packed{"geosql/geosql.so", r.library}, packed{info + "LICENSE", r.license})
	files = append(files, packed{info + "RECORD", record(files, info+"RECORD")})
	name := fmt.Sprintf("geosql-%s-py3-none-%s.whl", r.Version, r.Wheel())
	return pack{name, "python", files, beside, zipped}, nil
}

// record returns the RECORD of a wheel: it lists the files with their hashes and sizes, and
// itself without them.
func record(files []packed, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
