//go:build !cgo

package sqlite

// Without cgo nothing is left of this package, and these words are all that the compiler can say: it repeats none over 70.
const _ int = "geosql needs cgo: run xcode-select --install, set CGO_ENABLED=1"
