// Package cli holds what the project's programs have in common: commands with their flags
// and help, exit statuses, signals, the progress line on the terminal, and the reading of
// data sets.
package cli
