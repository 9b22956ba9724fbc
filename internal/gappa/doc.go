// Package gappa translates the floating-point arithmetic of Go functions into scripts for
// Gappa (Daumas and Melquiond, Certification of bounds on expressions involving rounded
// operators, 2010), which proves bounds on its errors by interval arithmetic and rewriting. Tests
// import it. Start at Load and Source.
//
// A script is made from the source: constants are those of the code, to the last bit, and
// every operation is followed by a rounding. Code that the package does not translate (loops,
// calls, fields, reads of a source) is an unknown real number, about which a script may assume
// something; otherwise nothing is known of it.
//
// # Fused multiply-add
//
// Go may compute x*y + z with one rounding, across statements and inlined calls too, unless
// an explicit conversion stands between. Compilers for arm64, ppc64, riscv64 and s390x do,
// and for amd64 at level v3. Each sum or difference with an operand that is a product, or a variable that holds one, is
// therefore translated in every way that it may be computed, and a bound is proved for every combination.
//
// Integers are exact, and conversions to float64 are rounded. Overflow is not modelled:
// code that depends on it says so.
package gappa
