//go:build !cgo && !linux && !darwin && !windows

package sqlite

// Without cgo nothing is left of this package, and these words are all that the compiler can say: it repeats none over 70.
const _ int = "geosql needs cgo: install a C compiler, set CGO_ENABLED=1"
