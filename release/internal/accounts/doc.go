// Package accounts counts how many locations of a data set each of its accounts has, and
// gives the accounts in ascending order of their names. Memory holds a number of them,
// whatever there are; the others are sorted in a file.
package accounts
