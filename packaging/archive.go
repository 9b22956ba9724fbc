package main

// archive returns the archive for sqlpkg and for users of the sqlite3 shell. Its name
// tells the platform. The name of the library in it cannot, since SQLite derives the
// name of the entry point from it.
func archive(r release) (pack, error) {
	files, err := r.rendered("sqlpkg.json")
	files = append(files, packed{"geosql.so", r.library}, packed{"LICENSE", r.license})
	return pack{r.Archive(), "archive", files, nil, tarball("")}, err
}

// Archive returns the name of the archive.
func (p Platform) Archive() string { return "geosql-linux-" + p.Machine + ".tar.gz" }
