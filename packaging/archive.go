package main

// archive is what sqlpkg unpacks, and whoever works with the sqlite3 shell. Its
// name is free to tell the platform; that of the library in it is not, for SQLite
// makes the name of the entry point of it.
func archive(r release) (pack, error) {
	files, err := r.rendered("sqlpkg.json")
	files = append(files, packed{"geosql.so", r.library}, packed{"LICENSE", r.license})
	return pack{r.Archive(), "archive", files, nil, tarball("")}, err
}

// Archive is the name of the archive.
func (p Platform) Archive() string { return "geosql-linux-" + p.Machine + ".tar.gz" }
