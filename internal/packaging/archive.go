package main

// archive returns the archive of a program, or of an extension for sqlpkg and for users of the sqlite3 shell. Its
// name tells the platform. That of an extension in it cannot, since SQLite derives the name of the entry point from it.
func (b built) archive() (pack, error) {
	form := tarball("")
	if b.OS == "windows" {
		form = zipped
	}
	files, err := rendered(b.kind(), b)
	files = append(append(files, b.binary("")), b.licenses("")...)
	return pack{name: b.Archive(), folder: "archive", files: files, holds: []built{b}, form: form}, err
}

// kind returns the folder of the templates of the archive.
func (b built) kind() string {
	switch {
	case b.isForTests():
		return "test-extension"
	case b.isExtension():
		return "extension"
	}
	return "program"
}

// Archive returns the name of the archive.
func (b built) Archive() string {
	name, suffix := "geosql-", ".tar.gz"
	if b.isExtension() {
		name += b.kind() + "-"
	}
	if b.OS == "windows" {
		suffix = ".zip"
	}
	return name + b.Version + "-" + b.Platform.String() + suffix
}
