package main

// npm returns the package for npm.
func npm(r release) (pack, error) {
	files, err := r.rendered("npm")
	files = append(files, packed{"geosql.so", r.library}, packed{"LICENSE", r.license})
	return pack{"geosql-" + r.Version + ".tgz", "npm", files, nil, tarball("package")}, err
}
