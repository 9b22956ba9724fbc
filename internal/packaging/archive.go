package main

// archive returns the archive of a program, or of an extension for sqlpkg and for users of the sqlite3 shell. Its
// name tells the platform. That of an extension in it cannot, since SQLite derives the name of the entry point from it.
func (b built) archive() (pack, error) {
	folder, form := "program", tarball("")
	if b.isExtension() {
		folder = "extension"
	}
	if b.OS == "windows" {
		form = zipped
	}
	files, err := rendered(folder, b)
	files = append(append(files, b.binary("")), b.licenses("")...)
	return pack{name: b.Archive(), folder: "archive", files: files, holds: []built{b}, form: form}, err
}

// Archive returns the name of the archive.
func (b built) Archive() string {
	name, suffix := "geosql-", ".tar.gz"
	if b.isExtension() {
		name = "geosql-extension-"
	}
	if b.OS == "windows" {
		suffix = ".zip"
	}
	return name + b.Version + "-" + b.Platform.String() + suffix
}
