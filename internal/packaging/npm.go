package main

// npmPlatform returns the package for npm that holds an extension. Nobody asks for it: package geosql does.
func (b built) npmPlatform() (pack, error) {
	files, err := rendered("npm-platform", b)
	files = append(append(files, b.binary("")), b.licenses("")...)
	return pack{
		name: "geosql-" + b.Node() + "-" + b.Version + ".tgz", purl: "pkg:npm/%40geosql/" + b.Node() + "@" + b.Version,
		folder: "npm-platform", files: files, holds: []built{b}, form: tarball("package"),
	}, err
}

// npm returns the package geosql. npm installs its optional dependency for the platform.
func (r *release) npm() (pack, error) {
	files, err := rendered("npm", r)
	return pack{
		name: "geosql-" + r.Version + ".tgz", purl: "pkg:npm/geosql@" + r.Version,
		folder: "npm", files: append(files, r.license), holds: r.Extensions, form: tarball("package"),
	}, err
}
