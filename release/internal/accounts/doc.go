// Package accounts counts how many locations each account of a data set has, and returns
// the accounts in ascending order of their names. Memory holds a bounded number of them; the
// others are sorted in a file. It imports internal/intern. Start at Counter.
package accounts
